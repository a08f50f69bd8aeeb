/* sources: src/drivers/gic/v3.c src/drivers/gic/gic.c */
/*
 * The GICv3 driver against a model of the distributor, of redistributors in two regions and with
 * both strides, and of the system registers of each core.
 */
#include "gic_model.h"

#include "el1bench/sysreg.h"

#define CORES 6
#define FRAME 0x10000U

static uint8_t distributor[FRAME];
/* Region 0: cores 0 and 1 with two frames, 2 with four, 3 with two. Region 1: cores 4 and 5. */
static uint8_t region_0[10 * FRAME];
static uint8_t region_1[4 * FRAME];
static const uint64_t affinities[CORES] = {0x0, 0x1, 0x100, 0x3000011, 0x010f, 0x1020304};

static struct {
	uint32_t distributor_control;
	uint32_t typer;
	uint32_t pidr2;
	bool distributor_busy;
	bool distributor_deaf;
	uint32_t shared_enabled[32];
	struct {
		uint64_t typer;
		bool sleeps;
		bool never_wakes;
		bool busy;
		uint32_t group;
		uint32_t enabled;
		uint32_t pending;
		uint32_t active;
	} redistributors[CORES];
	uint64_t mpidr[CORES];
	uint64_t features;
	uint64_t sre[CORES];
	bool sre_sticks;
	uint64_t control[CORES];
	uint64_t mask[CORES];
	uint64_t group[CORES];
} model;

const struct gic_operations gic_v2 = {.version = 2};
extern const struct gic_operations gic_v3;

static uint8_t *base_of(uint32_t core)
{
	static const uint32_t frames[CORES] = {0, 2, 4, 8, 0, 2};

	return (core < 4 ? region_0 : region_1) + frames[core] * FRAME;
}

static uint32_t core_of(const volatile void *base)
{
	for (uint32_t core = 0; core < CORES; core++) {
		if (base == base_of(core)) {
			return core;
		}
	}
	fail_msg("access outside of any redistributor");
	return 0;
}

uint32_t read32(const volatile void *base, uint32_t offset)
{
	uint32_t core;

	if (base == distributor) {
		switch (offset) {
		case 0x0000:
			return model.distributor_control | (model.distributor_busy ? 1U << 31 : 0);
		case 0x0004:
			return model.typer;
		case 0x0008:
			return MODEL_IIDR;
		default:
			assert_int_equal(offset, 0xffe8);
			return model.pidr2;
		}
	}
	core = core_of(base);
	assert_int_equal(core, current); /* a core touches no redistributor but its own */
	switch (offset) {
	case 0x0000:
		return model.redistributors[core].busy ? 1U << 3 : 0;
	case 0x0014:
		return model.redistributors[core].sleeps ? 6 : 0;
	case FRAME + 0x200:
		return model.redistributors[core].pending;
	case FRAME + 0x300:
		return model.redistributors[core].active;
	default:
		fail_msg("read of GICR + 0x%x", offset);
		return 0;
	}
}

void write32(volatile void *base, uint32_t offset, uint32_t value)
{
	uint32_t core;

	if (base == distributor) {
		if (offset == 0) {
			model.distributor_control = model.distributor_deaf ? 0 : value;
		} else {
			assert_in_range(offset, 0x184, 0x1fc);
			model.shared_enabled[(offset - 0x180) / 4] &= ~value;
		}
		return;
	}
	core = core_of(base);
	assert_int_equal(core, current);
	switch (offset) {
	case 0x0014:
		if ((value & 2) == 0 && !model.redistributors[core].never_wakes) {
			model.redistributors[core].sleeps = false;
		}
		break;
	case FRAME + 0x080:
		model.redistributors[core].group = value;
		break;
	case FRAME + 0x100:
		model.redistributors[core].enabled |= value;
		break;
	case FRAME + 0x180:
		model.redistributors[core].enabled &= ~value;
		break;
	case FRAME + 0x280:
		model.redistributors[core].pending &= ~value;
		break;
	case FRAME + 0x380:
		model.redistributors[core].active &= ~value;
		break;
	case FRAME + 0xd00:
		assert_int_equal(value, 0);
		break;
	default:
		assert_in_range(offset, FRAME + 0x400, FRAME + 0x41c);
	}
}

uint64_t read64(const volatile void *base, uint32_t offset)
{
	assert_int_equal(offset, 8);
	return model.redistributors[core_of(base)].typer;
}

void write64(volatile void *base, uint32_t offset, uint64_t value)
{
	(void)base;
	(void)value;
	fail_msg("64-bit write of 0x%x", offset);
}

uint64_t fake_sysreg_read(const char *name)
{
	if (strcmp(name, "mpidr_el1") == 0) {
		return model.mpidr[current];
	}
	if (strcmp(name, "id_aa64pfr0_el1") == 0) {
		return model.features;
	}
	if (strcmp(name, "icc_sre_el1") == 0) {
		return model.sre[current];
	}
	assert_string_equal(name, "icc_ctlr_el1");
	return model.control[current];
}

void fake_sysreg_write(const char *name, uint64_t value)
{
	if (strcmp(name, "icc_sgi1r_el1") == 0) {
		note("SGI1R=%llx ", (unsigned long long)value);
	} else if (strcmp(name, "icc_sre_el1") == 0) {
		model.sre[current] = model.sre_sticks ? value : 0;
	} else if (strcmp(name, "icc_ctlr_el1") == 0) {
		model.control[current] = value;
	} else if (strcmp(name, "icc_pmr_el1") == 0) {
		model.mask[current] = value;
	} else if (strcmp(name, "icc_igrpen1_el1") == 0) {
		model.group[current] = value;
	} else {
		assert_true(strcmp(name, "icc_bpr1_el1") == 0 ||
			    strcmp(name, "icc_ap1r0_el1") == 0);
		assert_int_equal(value, 0);
	}
}

static struct gic_description description;

static int reset(void **state)
{
	(void)state;
	common_reset();
	memset(&model, 0, sizeof(model));
	model.typer = 1U << 26 | 3U;
	model.pidr2 = 0x3b;
	model.features = 1U << 24;
	model.sre_sticks = true;
	memset(model.shared_enabled, 0xff, sizeof(model.shared_enabled));
	for (uint32_t core = 0; core < CORES; core++) {
		uint64_t affinity = affinities[core];

		model.mpidr[core] = UINT64_C(0x81000000) | (affinity & 0xffffff) |
				    (affinity >> 24 & 0xff) << 32;
		model.redistributors[core].typer = (affinity & 0xffffffff) << 32 |
						   (uint64_t)core << 8 | (core == 2 ? 2U : 0U) |
						   (core == 3 || core == 5 ? 0x10U : 0U);
		model.redistributors[core].sleeps = true;
		model.redistributors[core].enabled = 0xf00f0000;
		model.redistributors[core].pending = 0x400000ff;
		model.redistributors[core].active = 0x1;
		model.control[core] = 1U << 18 | 2U;
	}
	description = (struct gic_description){
		.version = 3,
		.distributor = distributor,
		.redistributors = {{region_0, sizeof(region_0)}, {region_1, sizeof(region_1)}},
		.redistributor_count = 2,
	};
	return 0;
}

static void start_all(void)
{
	const char *reason = NULL;

	current = 0;
	assert_true(gic_start(&description, &reason));
	for (current = 1; current < CORES; current++) {
		assert_true(gic->start_cpu(current, &reason));
	}
	current = 0;
	journal[0] = '\0';
}

static void refuses_to_start(void)
{
	const char *reason = NULL;

	assert_false(gic_start(&description, &reason));
	assert_non_null(reason);
	assert_null(gic);
}

static void start_routes_by_affinity(void **state)
{
	(void)state;
	start_all();
	assert_ptr_equal(gic, &gic_v3);
	assert_string_equal(gic_broadcast_method(), "irm");
	assert_int_equal(model.distributor_control, 0x12);
	for (uint32_t word = 1; word < 4; word++) {
		assert_int_equal(model.shared_enabled[word], 0);
	}
	assert_int_equal(model.shared_enabled[4], UINT32_MAX);
	assert_int_equal(gic_identification(), MODEL_IIDR);
}

static void start_refuses_what_does_not_answer(void **state)
{
	(void)state;
	model.pidr2 = 0x2b;
	refuses_to_start();
	reset(state);
	model.distributor_busy = true;
	refuses_to_start();
	reset(state);
	model.distributor_deaf = true;
	refuses_to_start();
	reset(state);
	description.redistributor_count = 0;
	refuses_to_start();
	reset(state);
	description.distributor = NULL;
	refuses_to_start();
}

static void a_core_refuses_what_does_not_answer(void **state)
{
	(void)state;
	model.features = 0;
	refuses_to_start();
	reset(state);
	model.sre_sticks = false;
	refuses_to_start();
	reset(state);
	model.redistributors[0].never_wakes = true;
	refuses_to_start();
	reset(state);
	model.redistributors[0].busy = true;
	refuses_to_start();
	reset(state);
	model.mpidr[0] = 0x80000077;
	refuses_to_start();
}

static void a_core_starts_clean_at_its_own_redistributor(void **state)
{
	(void)state;
	start_all();
	for (uint32_t core = 0; core < CORES; core++) {
		assert_false(model.redistributors[core].sleeps);
		assert_int_equal(model.redistributors[core].group, UINT32_MAX);
		assert_int_equal(model.redistributors[core].enabled, 0xff);
		assert_int_equal(model.redistributors[core].pending, 0);
		assert_int_equal(model.redistributors[core].active, 0);
		assert_int_equal(model.sre[core], 1);
		assert_int_equal(model.mask[core], 0xf0);
		assert_int_equal(model.group[core], 1);
		assert_int_equal(model.control[core], 1U << 18);
	}
}

static void the_walk_stays_inside_its_regions(void **state)
{
	const char *reason = NULL;

	(void)state;
	/* Without the Last bits, the sizes alone must end the walk (read64 checks each step). */
	model.redistributors[3].typer &= ~UINT64_C(0x10);
	model.redistributors[5].typer &= ~UINT64_C(0x10);
	start_all();
	model.mpidr[1] = 0x80000077;
	current = 1;
	assert_false(gic->start_cpu(1, &reason));
	/* A region too small for one redistributor has none. */
	reset(state);
	description.redistributors[0].bytes = 2 * FRAME - 1;
	refuses_to_start();
}

static void a_second_start_keeps_what_is_pending_and_enabled(void **state)
{
	const char *reason = NULL;

	(void)state;
	start_all();
	current = 2;
	gic->enable(30);
	assert_int_equal(model.redistributors[2].enabled, 0x400000ff);
	model.redistributors[2].enabled = 0x00ff0000;
	model.redistributors[2].pending = 0x2;
	model.redistributors[2].sleeps = true;
	assert_true(gic->start_cpu(2, &reason));
	assert_int_equal(model.redistributors[2].enabled, 0x400000ff);
	assert_int_equal(model.redistributors[2].pending, 0x2);
	assert_true(gic->pending(1));
	assert_false(gic->pending(2));
}

static void sends_by_the_affinity_of_the_target(void **state)
{
	static const char *const expected[CORES] = {
		"dsb_ishst SGI1R=1000001 isb ", "dsb_ishst SGI1R=1000002 isb ",
		"dsb_ishst SGI1R=1010001 isb ", "dsb_ishst SGI1R=3100001000002 isb ",
		"dsb_ishst SGI1R=1018000 isb ", "dsb_ishst SGI1R=1000201030010 isb ",
	};

	(void)state;
	start_all();
	for (uint32_t core = 0; core < CORES; core++) {
		journal[0] = '\0';
		gic->send(core, 1);
		assert_string_equal(journal, expected[core]);
	}
}

static void a_high_affinity_needs_both_range_selectors(void **state)
{
	const char *reason = NULL;

	(void)state;
	start_all();
	current = 3;
	model.control[3] = 0;
	assert_false(gic->start_cpu(3, &reason));
	assert_non_null(reason);
	model.control[3] = 1U << 18;
	model.typer = 3;
	assert_false(gic->start_cpu(3, &reason));
	model.typer = 1U << 26 | 3U;
	assert_true(gic->start_cpu(3, &reason));
}

static void sends_to_all_others_by_the_routing_mode(void **state)
{
	(void)state;
	start_all();
	gic->send_others(2);
	assert_string_equal(journal, "dsb_ishst SGI1R=10002000000 isb ");
}

static void sends_behind_the_barrier_asked_for(void **state)
{
	(void)state;
	start_all();
	gic->send_behind[GIC_BARRIER_ISHST](1, 1);
	gic->send_behind[GIC_BARRIER_SY](1, 1);
	gic->send_behind[GIC_BARRIER_NONE](1, 1);
	assert_string_equal(journal, "dsb_ishst SGI1R=1000002 isb dsb_sy SGI1R=1000002 isb "
				     "SGI1R=1000002 isb ");
}

static void sends_to_a_list_with_one_write_a_group(void **state)
{
	struct gic_list list = {0};

	(void)state;
	start_all();
	for (uint32_t core = 0; core < CORES; core++) {
		gic->add_to_list(&list, core, 1);
	}
	assert_int_equal(list.count, 4); /* 0 and 1, 2 and 4, 3, 5 */
	gic->send_list(&list);
	assert_string_equal(journal, "dsb_ishst SGI1R=1000003 SGI1R=1018001 "
				     "SGI1R=3100001000002 SGI1R=1000201030010 isb ");
}

static void stages_are_stamped_by_another_entry(void **state)
{
	(void)state;
	start_all();
	gic_set_handler(1, noting_handler);
	gic_hot.handlers[1](1, 0, 77);
	assert_string_equal(journal, "handler(1,0,77) ");
	assert_ptr_equal(irq_entry, interrupt_v3);
	gic_set_staged(true);
	assert_ptr_equal(irq_entry, interrupt_v3_staged);
	gic_set_staged(false);
	assert_ptr_equal(irq_entry, interrupt_v3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(start_routes_by_affinity, reset),
		cmocka_unit_test_setup(start_refuses_what_does_not_answer, reset),
		cmocka_unit_test_setup(a_core_refuses_what_does_not_answer, reset),
		cmocka_unit_test_setup(a_core_starts_clean_at_its_own_redistributor, reset),
		cmocka_unit_test_setup(the_walk_stays_inside_its_regions, reset),
		cmocka_unit_test_setup(a_second_start_keeps_what_is_pending_and_enabled, reset),
		cmocka_unit_test_setup(sends_by_the_affinity_of_the_target, reset),
		cmocka_unit_test_setup(a_high_affinity_needs_both_range_selectors, reset),
		cmocka_unit_test_setup(sends_to_all_others_by_the_routing_mode, reset),
		cmocka_unit_test_setup(sends_behind_the_barrier_asked_for, reset),
		cmocka_unit_test_setup(sends_to_a_list_with_one_write_a_group, reset),
		cmocka_unit_test_setup(stages_are_stamped_by_another_entry, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
