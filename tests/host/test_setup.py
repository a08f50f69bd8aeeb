"""`el1bench setup`: packages, the private apt, the cache and its lock; nothing is installed."""

import contextlib
import io
import os
import stat
import subprocess
import time
import unittest
from pathlib import Path
from unittest import mock

from el1bench_host import cache, cli, debian_archive, newlib, paths, setup
from el1bench_host.errors import UserError
from tests.folder import temporary_folder

LAUNCHER = paths.SOURCE_TREE / "scripts" / "el1bench"


class FolderTest(unittest.TestCase):
    """A test with an empty folder of its own, also used as the cache."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "setup")
        self.enterContext(mock.patch.dict(os.environ,
                                          {"EL1BENCH_CACHE": str(self.folder / "cache")}))

    def tool(self, name: str, script: str) -> None:
        """Put a made-up program in front of all others in PATH."""
        programs = self.folder / "programs"
        if not programs.is_dir():
            programs.mkdir()
            self.enterContext(mock.patch.dict(os.environ,
                                              {"PATH": f"{programs}:{os.environ['PATH']}"}))
        path = programs / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


class PackagesTest(FolderTest):
    """Which packages are missing, and who installs them."""

    def test_installed_and_unknown(self) -> None:
        self.assertEqual(setup.missing_packages(["dpkg", "no-such-package-el1bench", "coreutils"]),
                         ["no-such-package-el1bench"])

    def test_purposes(self) -> None:
        self.assertEqual(setup.packages_for("run"), ["qemu-system-arm"])
        self.assertIn("newlib-source", setup.packages_for("test"))
        self.assertIn("qemu-system-arm", setup.packages_for("test"))
        self.assertNotIn("qemu-system-arm", setup.packages_for("build"))

    def test_without_privilege_says_what_to_type(self) -> None:
        self.tool("sudo", "exit 1")
        self.enterContext(mock.patch.object(os, "geteuid", return_value=1000))
        with self.assertRaises(UserError) as caught:
            setup.install_packages(["one", "two"])
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertEqual(str(caught.exception).count("\n"), 0)
        self.assertTrue(str(caught.exception).endswith(
            "sudo apt-get install -y --no-install-recommends one two"), caught.exception)

    def test_installs_through_sudo(self) -> None:
        record = self.folder / "record"
        self.tool("sudo", f'printf "%s\\n" "$*" >>{record}')
        self.enterContext(mock.patch.object(os, "geteuid", return_value=1000))
        self.enterContext(mock.patch.object(setup, "missing_packages", return_value=[]))
        setup.install_packages(["one"], quiet=True)
        lines = record.read_text(encoding="ascii").splitlines()
        self.assertIn("-n true", lines)
        self.assertRegex(lines[-1], r"^-n env DEBIAN_FRONTEND=noninteractive .*apt-get .*install "
                                    r"-y --no-install-recommends one$")

    def test_updates_lists_when_install_fails(self) -> None:
        record = self.folder / "record"
        # Knows no package until its lists were updated.
        self.tool("apt-get", f'echo "$@" >>{record}; case "$*" in *update*) touch {record}.new;; '
                             f'*) test -e {record}.new;; esac')
        self.enterContext(mock.patch.object(os, "geteuid", return_value=0))
        self.enterContext(mock.patch.object(setup, "missing_packages", return_value=[]))
        setup.install_packages(["one"], quiet=True)
        verbs = [line.split()[1] for line in record.read_text(encoding="ascii").splitlines()]
        self.assertEqual(verbs, ["install", "update", "install"])

    def test_apt_that_installs_nothing(self) -> None:
        self.tool("apt-get", "exit 0")
        self.enterContext(mock.patch.object(os, "geteuid", return_value=0))
        with self.assertRaisesRegex(UserError, "did not install no-such-package-el1bench"):
            setup.install_packages(["no-such-package-el1bench"], quiet=True)

    def test_quick_when_everything_is_there(self) -> None:
        missing = setup.missing_packages(setup.packages_for("build"))
        if missing:
            self.skipTest(f"not installed: {' '.join(missing)}")
        started = time.monotonic()
        setup.ensure_packages("build")
        self.assertLess(time.monotonic() - started, 0.3)


class MirrorTest(FolderTest):
    """The mirror is the one that the machine's own apt uses."""

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="ascii")

    def mirror(self) -> str:
        return debian_archive.find_mirror("bookworm", self.folder)

    def test_one_line_style(self) -> None:
        self.write("sources.list",
                   "# deb http://commented.example/debian bookworm main\n"
                   "deb-src http://source.example/debian bookworm main\n"
                   "deb http://other.example/extra stable main\n"
                   "deb [arch=amd64 signed-by=/x] http://mirror.example/debian bookworm main "
                   "contrib # words\n")
        self.assertEqual(self.mirror(), "http://mirror.example/debian")

    def test_stanzas(self) -> None:
        self.write("sources.list.d/a.sources",
                   "Types: deb\nURIs: http://off.example/debian\nSuites: bookworm\n"
                   "Components: main\nEnabled: no\n\n"
                   "Types: deb\n# words\nURIs: http://security.example/debian\n"
                   "Suites: bookworm-security\nComponents: main\n\n"
                   "Types: deb deb-src\nURIs:\n http://mirror.example/debian\n"
                   "Suites: bookworm bookworm-updates\nComponents: main\n")
        self.assertEqual(self.mirror(), "http://mirror.example/debian")

    def test_none(self) -> None:
        self.write("sources.list", "\xff garbage deb\n".encode("latin-1").decode("ascii", "ignore"))
        with self.assertRaisesRegex(UserError, "no Debian mirror for bookworm"):
            self.mirror()

    def test_release(self) -> None:
        self.write("os-release", 'NAME=x\nVERSION_CODENAME="bookworm"\n')
        self.assertEqual(debian_archive.release_name(self.folder / "os-release"), "bookworm")
        self.write("os-release", "NAME=x\n")
        with self.assertRaisesRegex(UserError, "names no release"):
            debian_archive.release_name(self.folder / "os-release")


class FetchTest(FolderTest):
    """Fetching a package: through a private apt, and one line when it fails."""

    def setUp(self) -> None:
        super().setUp()
        self.enterContext(mock.patch.object(debian_archive, "find_mirror",
                                            return_value="http://mirror.example/debian"))

    def test_failure_is_one_line_and_leaves_nothing(self) -> None:
        self.tool("apt-get", 'echo "W: words" >&2; echo "E: Failed to fetch it  404" >&2; exit 100')
        with self.assertRaises(UserError) as caught:
            debian_archive.ensure_u_boot(quiet=True)
        self.assertEqual(str(caught.exception),
                         "cannot fetch u-boot-qemu:arm64 of trixie from http://mirror.example/debian:"
                         " Failed to fetch it  404")
        self.assertEqual(caught.exception.exit_code, 1)
        left = [path.name for path in (self.folder / "cache").iterdir()]
        self.assertEqual([name for name in left if not name.endswith(".lock")], [])

    def test_failure_on_the_command_line(self) -> None:
        self.tool("apt-get", 'echo "E: no network" >&2; exit 100')
        errors = io.StringIO()
        with mock.patch.object(setup, "ensure_packages"), \
                mock.patch.object(newlib, "ensure", return_value=Path("/n")), \
                contextlib.redirect_stderr(errors):
            status = cli.main(["setup", "--only", "build", "--quiet"])
        self.assertEqual(status, 1)
        self.assertEqual(errors.getvalue().count("\n"), 1, errors.getvalue())
        self.assertIn("libfdt-dev:arm64", errors.getvalue())
        self.assertIn("no network", errors.getvalue())

    def test_apt_is_private(self) -> None:
        record = self.folder / "record"
        self.tool("apt-get", f'echo "$@" >>{record}; '
                             'case "$*" in *download*) echo archive >one.deb;; esac')
        self.tool("dpkg", 'mkdir -p "$3/usr/lib/u-boot/qemu_arm64"; '
                          'echo u-boot >"$3/usr/lib/u-boot/qemu_arm64/u-boot.bin"')
        binary = debian_archive.ensure_u_boot(quiet=True)
        self.assertEqual(binary.read_text(encoding="ascii"), "u-boot\n")
        self.assertTrue(str(binary).startswith(str(self.folder / "cache") + "/"))
        lines = record.read_text(encoding="ascii").splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            for name in ("Dir::State::Lists=", "Dir::State::status=", "Dir::Cache=",
                         "Dir::Etc::SourceList="):
                self.assertIn(f"-o {name}{self.folder}/cache/", line)
        # The second time nothing is fetched.
        self.assertEqual(debian_archive.ensure_u_boot(quiet=True), binary)
        self.assertEqual(len(record.read_text(encoding="ascii").splitlines()), 2)

    def test_package_without_the_file(self) -> None:
        self.tool("apt-get", 'case "$*" in *download*) echo archive >one.deb;; esac')
        self.tool("dpkg", "exit 0")
        with self.assertRaisesRegex(UserError, "holds no lib/aarch64-linux-gnu/libfdt.a"):
            debian_archive.ensure_libfdt(quiet=True)


class CacheTest(FolderTest):
    """Entries appear whole or not at all, and are filled once."""

    def test_filled_once(self) -> None:
        calls = []

        def fill(folder: Path) -> None:
            calls.append(folder)
            (folder / "file").write_text("content", encoding="ascii")

        for _ in range(2):
            entry = cache.entry("thing-1", fill)
            self.assertEqual((entry / "file").read_text(encoding="ascii"), "content")
        self.assertEqual(len(calls), 1)

    def test_failure_leaves_no_entry(self) -> None:
        def fill(folder: Path) -> None:
            (folder / "half").write_text("", encoding="ascii")
            raise UserError("broken")

        with self.assertRaisesRegex(UserError, "broken"):
            cache.entry("thing-1", fill)
        left = [path.name for path in cache.cache_root().iterdir()]
        self.assertEqual(left, [".thing-1.lock"])

    def test_two_processes_fill_once(self) -> None:
        script = (
            "import sys, time\n"
            "from pathlib import Path\n"
            "from el1bench_host import cache\n"
            "def fill(folder):\n"
            "    with open(sys.argv[1], 'a') as record:\n"
            "        record.write('filled\\n')\n"
            "    (folder / 'file').touch()\n"
            "    time.sleep(0.3)  # long enough for the other to come to the lock\n"
            "print(cache.entry('thing-1', fill))\n")
        record = self.folder / "record"
        environment = {**os.environ, "PYTHONPATH": str(paths.SOURCE_TREE / "scripts")}
        children = [subprocess.Popen(["/usr/bin/python3", "-c", script, str(record)],
                                     env=environment, stdout=subprocess.PIPE, text=True)
                    for _ in range(3)]
        answers = {child.communicate(timeout=60)[0] for child in children}
        self.assertEqual([child.returncode for child in children], [0, 0, 0])
        self.assertEqual(answers, {f"{self.folder}/cache/thing-1\n"})
        self.assertEqual(record.read_text(encoding="ascii"), "filled\n")

    def test_unwritable(self) -> None:
        (self.folder / "cache").write_text("a file, not a folder", encoding="ascii")
        with self.assertRaisesRegex(UserError, "cannot write to the cache folder .*EL1BENCH_CACHE"):
            cache.entry("thing-1", lambda folder: None)

    def test_place(self) -> None:
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "/x"}):
            del os.environ["EL1BENCH_CACHE"]
            self.assertEqual(cache.cache_root(), Path("/x/el1bench"))


class NewlibTest(FolderTest):
    """What the key of the cache entry stands for."""

    def key(self) -> str:
        return newlib.ensure(quiet=True).parent.name

    def test_key(self) -> None:
        sources = self.folder / "sources"
        sources.mkdir()
        (sources / "newlib-9.tar.xz").write_bytes(b"one")
        self.enterContext(mock.patch.object(newlib, "SOURCE_FOLDER", sources))
        self.enterContext(mock.patch.object(newlib, "_build"))
        compiler = self.enterContext(mock.patch.object(newlib, "_compiler_version",
                                                       return_value="gcc 1"))
        first = self.key()
        self.assertRegex(first, r"^newlib-[0-9a-f]{16}$")
        self.assertEqual(self.key(), first)
        compiler.return_value = "gcc 2"
        self.assertNotEqual(self.key(), first)
        compiler.return_value = "gcc 1"
        (sources / "newlib-9.tar.xz").write_bytes(b"two")
        self.assertNotEqual(self.key(), first)

    def test_no_source(self) -> None:
        self.enterContext(mock.patch.object(newlib, "SOURCE_FOLDER", self.folder / "nowhere"))
        with self.assertRaisesRegex(UserError, "install the package newlib-source"):
            newlib.ensure()

    def test_failed_build_shows_the_reason(self) -> None:
        sources = self.folder / "sources"
        (self.folder / "newlib-x").mkdir()
        configure = self.folder / "newlib-x" / "configure"
        configure.write_text("#!/bin/sh\necho configure: error: cannot compute\nexit 1\n",
                             encoding="ascii")
        configure.chmod(0o755)
        sources.mkdir()
        subprocess.run(["tar", "cJf", str(sources / "newlib-9.tar.xz"), "-C", str(self.folder),
                        "newlib-x"], check=True)
        self.enterContext(mock.patch.object(newlib, "SOURCE_FOLDER", sources))
        self.enterContext(mock.patch.object(newlib, "_compiler_version", return_value="gcc 1"))
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(UserError) as caught:
            newlib.ensure(quiet=True)
        self.assertIn("configure: error: cannot compute", errors.getvalue())
        self.assertEqual(caught.exception.exit_code, 1)


class LauncherTest(FolderTest):
    """The POSIX sh launcher."""

    def run_launcher(self, launcher: Path, *arguments: str,
                     **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(launcher), *arguments], env={**os.environ, **variables},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)

    def test_another_python_in_path(self) -> None:
        self.tool("python3", "echo wrong python >&2; exit 9")
        done = self.run_launcher(LAUNCHER, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("build", done.stdout)

    def test_through_links_from_elsewhere(self) -> None:
        (self.folder / "a folder").mkdir()
        one = self.folder / "a folder" / "one"
        two = self.folder / "two"
        one.symlink_to(LAUNCHER)
        two.symlink_to("a folder/one")
        done = self.run_launcher(two, "build", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_users_modules_do_not_interfere(self) -> None:
        (self.folder / "argparse.py").write_text("raise SystemExit('the wrong module')\n",
                                                 encoding="ascii")
        done = self.run_launcher(LAUNCHER, "--help", PYTHONPATH=str(self.folder),
                                 PYTHONHOME="/nowhere", PYTHONSTARTUP="/nowhere")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_from_a_folder_with_modules_of_the_same_names(self) -> None:
        (self.folder / "argparse.py").write_text("raise SystemExit('the wrong module')\n",
                                                 encoding="ascii")
        done = subprocess.run([str(LAUNCHER), "--help"], cwd=self.folder, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bad_usage(self) -> None:
        for arguments in ((), ("no-such-command",), ("build", "--no-such-option")):
            with self.subTest(arguments):
                done = self.run_launcher(LAUNCHER, *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Ael1bench: .*; see el1bench.* --help\n\Z")

    def test_unknown_board(self) -> None:
        done = self.run_launcher(LAUNCHER, "build", "--board", "toaster")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "el1bench: no board `toaster`; boards: "
                                      + ", ".join(paths.board_names()) + "\n")


if __name__ == "__main__":
    unittest.main()
