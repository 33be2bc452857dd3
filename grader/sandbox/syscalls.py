"""System call numbers that the filter in :mod:`grader.sandbox.seccomp` names, by architecture.

From the kernel's ``arch/x86/entry/syscalls/syscall_64.tbl`` and ``scripts/syscall.tbl`` (aarch64). Calls that an
architecture lacks are left out of its table.
"""

from __future__ import annotations

from typing import Final

COMMON: Final = {  # numbers above 423 are the same everywhere
    **{"pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427},
    **{"open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "pidfd_open": 434, "clone3": 435},
    **{
        "openat2": 437,
        "pidfd_getfd": 438,
        "mount_setattr": 442,
        "fchmodat2": 452,
        "setxattrat": 463,
        "removexattrat": 466,
    },
}

X86_64: Final = COMMON | {
    **{"fork": 57, "vfork": 58, "clone": 56, "execve": 59, "execveat": 322},
    **{"socket": 41, "socketpair": 53, "connect": 42, "bind": 49, "listen": 50, "accept": 43, "accept4": 288},
    **{"sendto": 44, "sendmsg": 46, "sendmmsg": 307, "recvmsg": 47, "recvmmsg": 299, "fcntl": 72},
    **{"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311},
    **{"kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297},
    **{"unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161},
    **{"bpf": 321, "perf_event_open": 298, "userfaultfd": 323},
    **{"add_key": 248, "request_key": 249, "keyctl": 250},
    **{"init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246, "reboot": 169},
    **{"swapon": 167, "swapoff": 168, "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305},
    **{"acct": 163, "quotactl": 179, "sethostname": 170, "setdomainname": 171},
    **{"open_by_handle_at": 304, "name_to_handle_at": 303},
    **{"setuid": 105, "setgid": 106, "setreuid": 113, "setregid": 114, "setresuid": 117, "setresgid": 119},
    **{"setgroups": 116, "setfsuid": 122, "setfsgid": 123, "capset": 126},
    **{"prlimit64": 302, "prctl": 157, "ioctl": 16, "personality": 135, "seccomp": 317},
    **{"chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260},
    **{"utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280},
    **{
        "setxattr": 188,
        "lsetxattr": 189,
        "fsetxattr": 190,
        "removexattr": 197,
        "lremovexattr": 198,
        "fremovexattr": 199,
    },
    **{"shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66, "semtimedop": 220},
    **{"msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240, "mq_unlink": 241},
    **{"vhangup": 153, "setpriority": 141, "ioprio_set": 251, "iopl": 172, "ioperm": 173, "syslog": 103},
    **{"sched_setaffinity": 203, "sched_setscheduler": 144, "sched_setparam": 142, "sched_setattr": 314},
    **{"open": 2, "creat": 85, "openat": 257, "unlink": 87, "unlinkat": 263, "truncate": 76},
    **{"rename": 82, "renameat": 264, "renameat2": 316, "mkdir": 83, "mkdirat": 258, "rmdir": 84},
    **{"link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "mknod": 133, "mknodat": 259},
}

AARCH64: Final = COMMON | {
    **{"clone": 220, "execve": 221, "execveat": 281},
    **{"socket": 198, "socketpair": 199, "connect": 203, "bind": 200, "listen": 201, "accept": 202, "accept4": 242},
    **{"sendto": 206, "sendmsg": 211, "sendmmsg": 269, "recvmsg": 212, "recvmmsg": 243, "fcntl": 25},
    **{"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271},
    **{"kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240},
    **{"unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51},
    **{"bpf": 280, "perf_event_open": 241, "userfaultfd": 282},
    **{"add_key": 217, "request_key": 218, "keyctl": 219},
    **{"init_module": 105, "finit_module": 273, "delete_module": 106, "kexec_load": 104, "reboot": 142},
    **{"swapon": 224, "swapoff": 225, "settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "clock_adjtime": 266},
    **{"acct": 89, "quotactl": 60, "sethostname": 161, "setdomainname": 162},
    **{"open_by_handle_at": 265, "name_to_handle_at": 264},
    **{"setuid": 146, "setgid": 144, "setreuid": 145, "setregid": 143, "setresuid": 147, "setresgid": 149},
    **{"setgroups": 159, "setfsuid": 151, "setfsgid": 152, "capset": 91},
    **{"prlimit64": 261, "prctl": 167, "ioctl": 29, "personality": 92, "seccomp": 277},
    **{"fchmod": 52, "fchmodat": 53, "fchown": 55, "fchownat": 54, "utimensat": 88},
    **{"setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16},
    **{"shmget": 194, "shmat": 196, "shmctl": 195, "semget": 190, "semop": 193, "semctl": 191, "semtimedop": 192},
    **{"msgget": 186, "msgsnd": 189, "msgrcv": 188, "msgctl": 187, "mq_open": 180, "mq_unlink": 181},
    **{"vhangup": 58, "setpriority": 140, "ioprio_set": 30, "syslog": 116},
    **{"sched_setaffinity": 122, "sched_setscheduler": 119, "sched_setparam": 118, "sched_setattr": 274},
    **{"openat": 56, "unlinkat": 35, "truncate": 45, "renameat": 38, "renameat2": 276, "mkdirat": 34},
    **{"linkat": 37, "symlinkat": 36, "mknodat": 33},
}

NUMBERS: Final = {"x86_64": X86_64, "aarch64": AARCH64}
AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
