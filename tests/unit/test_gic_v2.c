/* sources: src/drivers/gic/v2.c src/drivers/gic/gic.c */
/*
 * The GICv2 driver against a model of the distributor, its registers banked by core, and of the CPU
 * interface.
 */
#include "gic_model.h"

#define CORES 8

static uint8_t distributor[0x1000];
static uint8_t cpu_interface[0x1000];

static struct {
	uint32_t distributor_control;
	bool control_sticks;
	uint32_t typer;
	uint32_t targets[CORES]; /* banked GICD_ITARGETSR0 */
	uint32_t enabled[CORES];
	uint32_t pending[CORES];
	uint32_t active[CORES];
	uint32_t interface_control[CORES];
	uint32_t priority_mask[CORES];
	uint32_t shared_enabled[32];
} model;

/* The other driver is not under test. */
const struct gic_operations gic_v3 = {.version = 3};
extern const struct gic_operations gic_v2;

uint32_t read32(const volatile void *base, uint32_t offset)
{
	if (base == cpu_interface) {
		switch (offset) {
		case 0x00:
			return model.interface_control[current];
		default:
			fail_msg("read of GICC + 0x%x", offset);
		}
	}
	assert_ptr_equal(base, distributor);
	switch (offset) {
	case 0x000:
		return model.distributor_control;
	case 0x004:
		return model.typer;
	case 0x008:
		return MODEL_IIDR;
	case 0x200:
		return model.pending[current];
	case 0x300:
		return model.active[current];
	case 0x800:
		return model.targets[current];
	default:
		assert_in_range(offset, 0x804, 0x81c);
		return 0;
	}
}

void write32(volatile void *base, uint32_t offset, uint32_t value)
{
	if (base == cpu_interface) {
		switch (offset) {
		case 0x00:
			model.interface_control[current] = value;
			break;
		case 0x04:
			model.priority_mask[current] = value;
			break;
		default:
			assert_true(offset == 0x08 || (offset >= 0xd0 && offset <= 0xdc));
			assert_int_equal(value, 0);
		}
		return;
	}
	assert_ptr_equal(base, distributor);
	switch (offset) {
	case 0x000:
		model.distributor_control = model.control_sticks ? value : 0;
		break;
	case 0x100:
		model.enabled[current] |= value;
		break;
	case 0x180:
		model.enabled[current] &= ~value;
		break;
	case 0x280:
		model.pending[current] &= ~(value & 0xffff0000U);
		break;
	case 0x380:
		model.active[current] &= ~value;
		break;
	case 0xf00:
		note("SGIR=%x ", value);
		break;
	case 0xf10:
		model.pending[current] &= ~0x0fU;
		break;
	case 0xf14:
		model.pending[current] &= ~0xf0U;
		break;
	default:
		if (offset >= 0x184 && offset < 0x200) {
			model.shared_enabled[(offset - 0x180) / 4] &= ~value;
		} else {
			assert_in_range(offset, 0x400, 0x41c);
		}
	}
}

uint64_t read64(const volatile void *base, uint32_t offset)
{
	(void)base;
	fail_msg("64-bit read of 0x%x", offset);
	return 0;
}

void write64(volatile void *base, uint32_t offset, uint64_t value)
{
	(void)base;
	(void)value;
	fail_msg("64-bit write of 0x%x", offset);
}

static const struct gic_description description = {
	.version = 2,
	.distributor = distributor,
	.cpu_interface = cpu_interface,
};

static int reset(void **state)
{
	(void)state;
	common_reset();
	memset(&model, 0, sizeof(model));
	model.control_sticks = true;
	model.typer = 7U << 5 | 3U;
	for (uint32_t core = 0; core < CORES; core++) {
		/* Deliberately not the core's index. */
		model.targets[core] = (1U << (core ^ 5U)) * 0x01010101U;
		model.enabled[core] = 0xf0ff0000U;
		model.pending[core] = 0x400000ffU;
		model.active[core] = 0x00000001U;
		model.interface_control[core] = 0x21e;
	}
	memset(model.shared_enabled, 0xff, sizeof(model.shared_enabled));
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

static void start_disables_shared_interrupts_and_enables_the_distributor(void **state)
{
	(void)state;
	start_all();
	assert_ptr_equal(gic, &gic_v2);
	assert_string_equal(gic_broadcast_method(), "filter");
	assert_int_equal(model.distributor_control, 1);
	for (uint32_t word = 1; word < 4; word++) {
		assert_int_equal(model.shared_enabled[word], 0);
	}
	assert_int_equal(model.shared_enabled[4], UINT32_MAX); /* not implemented: not touched */
	assert_non_null(irq_entry);
	assert_int_equal(gic_identification(), MODEL_IIDR);
}

static void start_refuses_what_does_not_answer(void **state)
{
	const struct gic_description incomplete = {.version = 2, .distributor = distributor};
	const struct gic_description unknown = {.version = 4, .distributor = distributor};
	const char *reason = NULL;

	(void)state;
	assert_false(gic_start(&incomplete, &reason));
	assert_non_null(reason);
	reason = NULL;
	assert_false(gic_start(&unknown, &reason));
	assert_non_null(reason);
	model.control_sticks = false;
	reason = NULL;
	assert_false(gic_start(&description, &reason));
	assert_non_null(reason);
	assert_null(gic);
	assert_string_equal(gic_broadcast_method(), "none");
}

static void a_core_starts_clean(void **state)
{
	(void)state;
	start_all();
	for (uint32_t core = 0; core < CORES; core++) {
		assert_int_equal(model.enabled[core], 0xff);
		assert_int_equal(model.pending[core], 0);
		assert_int_equal(model.active[core], 0);
		assert_int_equal(model.priority_mask[core], 0xf0);
		/* Bypass bits kept, enabled, EOImodeNS and the rest off. */
		assert_int_equal(model.interface_control[core], 0x001);
	}
}

static void a_second_start_keeps_what_is_pending_and_enabled(void **state)
{
	const char *reason = NULL;

	(void)state;
	start_all();
	current = 3;
	gic->enable(30);
	assert_int_equal(model.enabled[3], 0x400000ff);
	model.enabled[3] = 0x00ff0000;
	model.pending[3] = 0x00000002;
	assert_true(gic->start_cpu(3, &reason));
	assert_int_equal(model.enabled[3], 0x400000ff);
	assert_int_equal(model.pending[3], 0x00000002);
	assert_int_equal(model.enabled[2], 0xff);
}

static void sends_to_the_bit_that_the_hardware_named(void **state)
{
	(void)state;
	start_all();
	gic->send(1, 2);
	assert_string_equal(journal, "dsb_ishst SGIR=100002 ");
	journal[0] = '\0';
	gic->send(7, 0);
	assert_string_equal(journal, "dsb_ishst SGIR=40000 ");
	journal[0] = '\0';
	gic->send(0, 1);
	assert_string_equal(journal, "dsb_ishst SGIR=200001 ");
}

static void sends_to_all_others_by_the_filter(void **state)
{
	(void)state;
	start_all();
	gic->send_others(1);
	assert_string_equal(journal, "dsb_ishst SGIR=1000001 ");
}

static void sends_behind_the_barrier_asked_for(void **state)
{
	(void)state;
	start_all();
	gic->send_behind[GIC_BARRIER_ISHST](1, 2);
	gic->send_behind[GIC_BARRIER_SY](1, 2);
	gic->send_behind[GIC_BARRIER_NONE](1, 2);
	assert_string_equal(journal, "dsb_ishst SGIR=100002 dsb_sy SGIR=100002 SGIR=100002 ");
}

static void sends_to_a_list_with_one_write(void **state)
{
	struct gic_list list = {0};

	(void)state;
	start_all();
	gic->add_to_list(&list, 1, 2);
	gic->add_to_list(&list, 7, 2);
	gic->add_to_list(&list, 0, 2);
	gic->send_list(&list);
	assert_string_equal(journal, "dsb_ishst SGIR=340002 ");
}

static void a_single_core_sends_to_itself_by_the_filter(void **state)
{
	const char *reason = NULL;

	(void)state;
	model.typer = 3;
	model.targets[0] = 0;
	assert_true(gic_start(&description, &reason));
	journal[0] = '\0';
	gic->send(0, 1);
	assert_string_equal(journal, "dsb_ishst SGIR=2000001 ");
}

static void a_core_without_a_target_bit_is_refused(void **state)
{
	const char *reason = NULL;

	(void)state;
	model.targets[0] = 0;
	assert_false(gic_start(&description, &reason));
	assert_non_null(reason);
	model.targets[0] = 0x03030303;
	reason = NULL;
	assert_false(gic_start(&description, &reason));
	assert_non_null(reason);
	model.targets[0] = 0x01010101;
	assert_true(gic_start(&description, &reason));
	reason = NULL;
	assert_false(gic->start_cpu(8, &reason));
	assert_non_null(reason);
}

static void handlers_are_called_by_their_kind(void **state)
{
	const gic_handler light = (gic_handler)(uintptr_t)light_handlers_start;

	(void)state;
	start_all();
	assert_ptr_equal(gic_hot.handlers[2], interrupt_call);
	gic_hot.handlers[2](2, 5, 77);
	assert_int_equal(cpus[0].spurious_interrupts, 1);
	assert_string_equal(journal, "");

	gic_set_handler(2, noting_handler);
	assert_ptr_equal(gic_hot.handlers[2], interrupt_call);
	gic_hot.handlers[2](2, 5, 77);
	assert_string_equal(journal, "handler(2,5,77) ");
	gic_set_handler(GIC_INTID_COUNT, noting_handler); /* beyond the table: ignored */

	gic_set_handler(2, light);
	assert_ptr_equal(gic_hot.handlers[2], light);
	gic_set_handler(2, NULL);
	assert_ptr_equal(gic_hot.handlers[2], interrupt_call);
	assert_ptr_equal(gic_hot.handlers[1], interrupt_call);
}

static void stages_are_stamped_by_another_entry(void **state)
{
	(void)state;
	start_all();
	assert_ptr_equal(irq_entry, interrupt_v2);
	gic_set_staged(true);
	assert_ptr_equal(irq_entry, interrupt_v2_staged);
	gic_set_staged(false);
	assert_ptr_equal(irq_entry, interrupt_v2);
}

static void pending_tells_pending_and_active(void **state)
{
	(void)state;
	start_all();
	assert_false(gic->pending(30));
	model.pending[0] = 1U << 30;
	assert_true(gic->pending(30));
	assert_false(gic->pending(29));
	model.pending[0] = 0;
	model.active[0] = 1U << 30;
	assert_true(gic->pending(30));
	current = 1;
	assert_false(gic->pending(30));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(start_disables_shared_interrupts_and_enables_the_distributor,
				       reset),
		cmocka_unit_test_setup(start_refuses_what_does_not_answer, reset),
		cmocka_unit_test_setup(a_core_starts_clean, reset),
		cmocka_unit_test_setup(a_second_start_keeps_what_is_pending_and_enabled, reset),
		cmocka_unit_test_setup(sends_to_the_bit_that_the_hardware_named, reset),
		cmocka_unit_test_setup(sends_to_all_others_by_the_filter, reset),
		cmocka_unit_test_setup(sends_behind_the_barrier_asked_for, reset),
		cmocka_unit_test_setup(sends_to_a_list_with_one_write, reset),
		cmocka_unit_test_setup(a_single_core_sends_to_itself_by_the_filter, reset),
		cmocka_unit_test_setup(a_core_without_a_target_bit_is_refused, reset),
		cmocka_unit_test_setup(handlers_are_called_by_their_kind, reset),
		cmocka_unit_test_setup(stages_are_stamped_by_another_entry, reset),
		cmocka_unit_test_setup(pending_tells_pending_and_active, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
