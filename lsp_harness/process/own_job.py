"""The job of this process on Windows: what it has started ends with it, also if it is killed.

Linux says this for each child (`prctl`), and a supervisor does it for whole trees. On Windows all processes below this
one are in its job. When it ends, the system closes the last handle of the job, and ends them. Programs that must
outlive it leave the job when they are started (`process_group.detached_options`).
"""

import sys

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    EXTENDED_LIMIT_INFORMATION = 9
    LIMIT_BREAKAWAY_OK, LIMIT_KILL_ON_JOB_CLOSE = 0x800, 0x2000

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("process_time", ctypes.c_int64),
            ("job_time", ctypes.c_int64),
            ("flags", wintypes.DWORD),
            ("minimum_working_set", ctypes.c_size_t),
            ("maximum_working_set", ctypes.c_size_t),
            ("active_processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority_class", wintypes.DWORD),
            ("scheduling_class", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("basic", _BasicLimits),
            ("io_counters", ctypes.c_uint64 * 6),
            ("process_memory", ctypes.c_size_t),
            ("job_memory", ctypes.c_size_t),
            ("peak_process_memory", ctypes.c_size_t),
            ("peak_job_memory", ctypes.c_size_t),
        )


def end_children_with_this_process() -> bool:
    """Let the system end all processes below this one when it ends. Return whether it does so now.

    Other systems do it in their own ways, for each child.
    """
    if sys.platform != "win32":
        return False
    kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel32.CreateJobObjectW.restype = wintypes.HANDLE
    kernel32.GetCurrentProcess.restype = wintypes.HANDLE
    kernel32.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD)
    kernel32.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    job = kernel32.CreateJobObjectW(None, None)
    limits = _ExtendedLimits()
    limits.basic.flags = LIMIT_KILL_ON_JOB_CLOSE | LIMIT_BREAKAWAY_OK
    # the handle stays open until this process ends
    return bool(
        job
        and kernel32.SetInformationJobObject(
            job, EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        and kernel32.AssignProcessToJobObject(job, kernel32.GetCurrentProcess())
    )
