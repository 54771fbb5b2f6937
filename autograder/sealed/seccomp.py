"""The filter of system calls that a student's process lives under, as a program for the kernel.

What the other walls leave open is closed here: parts of the kernel that grading never needs and that others have
broken out through, memory that no limit counts, and sockets that lead to other machines (VSOCK isn't in the network
namespace). A process can't take the filter off, and its children have it too.
"""

from __future__ import annotations

import ctypes
import errno
from functools import cache
from tempfile import TemporaryFile

_NEW_NAMESPACES = {
    "NEWNS": 0x00020000, "NEWCGROUP": 0x02000000, "NEWUTS": 0x04000000, "NEWIPC": 0x08000000, "NEWUSER": 0x10000000,
    "NEWPID": 0x20000000, "NEWNET": 0x40000000,
}  # fmt: skip
_FAMILIES = {1, 2, 10, 16}
"""UNIX, INET, INET6 and NETLINK: they lead no farther than the sandbox, whose loopback ipykernel talks through."""

_MOST_FAMILIES = 64
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_WITHIN_32_BITS = 0xFFFFFFFF
_MODE_FILTER, _SET_SECCOMP = 2, 22

DENIED = {
    "other processes": "ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp",
    "namespaces": "unshare setns",
    "file systems": (
        "mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr "
        "name_to_handle_at open_by_handle_at quotactl quotactl_fd swapon swapoff fanotify_init"
    ),
    "keys": "add_key keyctl request_key",
    "parts of the kernel": (
        "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register personality init_module "
        "finit_module delete_module kexec_load kexec_file_load reboot syslog acct vhangup lookup_dcookie nfsservctl "
        "uselib ioperm iopl modify_ldt"
    ),
    "the clock and names": "settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname",
    "memory that no limit counts": "memfd_create memfd_secret shmget msgget semget",
}
"""The system calls that are refused whatever their arguments, by what they reach."""


class Missing(Exception):
    """The filter can't be made here, and what to do about it."""

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(problem)
        self.cure = cure


@cache
def program() -> bytes:
    """Return the filter as instructions of the kernel's filter machine; Missing if it can't be made here."""
    try:
        import pyseccomp as library
    except (ImportError, RuntimeError):
        raise Missing("libseccomp is missing", "`apt install libseccomp2`, and `pip install pyseccomp`") from None
    rules = library.SyscallFilter(library.ALLOW)
    refuse, absent, unknown = map(library.ERRNO, (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT))
    try:
        for name in " ".join(DENIED.values()).split():
            rules.add_rule(refuse, name)
        # Its flags are in memory, where no filter can look: libraries then use clone, whose flags are an argument.
        rules.add_rule(absent, "clone3")
        for flag in _NEW_NAMESPACES.values():
            rules.add_rule(refuse, "clone", library.Arg(0, library.MASKED_EQ, flag, flag))
        for kind in ("socket", "socketpair"):
            for family in set(range(_MOST_FAMILIES)) - _FAMILIES:
                rules.add_rule(unknown, kind, library.Arg(0, library.EQ, family))
            rules.add_rule(unknown, kind, library.Arg(0, library.GE, _MOST_FAMILIES))
        for request in (_TIOCSTI, _TIOCLINUX):
            rules.add_rule(refuse, "ioctl", library.Arg(1, library.MASKED_EQ, _WITHIN_32_BITS, request))
        with TemporaryFile() as file:
            rules.export_bpf(file)
            file.seek(0)
            return file.read()
    except (OSError, ValueError) as error:
        raise Missing(
            f"libseccomp can't make the filter ({error})", "`apt install libseccomp2`, 2.5 or newer"
        ) from None


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


_BYTES_OF_AN_INSTRUCTION = 8


def put_on(instructions: bytes) -> None:
    """Put this process under a filter, for good; OSError if the kernel refuses. It needs no_new_privs."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = _Program(len(instructions) // _BYTES_OF_AN_INSTRUCTION, instructions)
    if libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(given), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses the filter of system calls")
