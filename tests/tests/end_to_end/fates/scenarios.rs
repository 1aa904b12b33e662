//! What becomes of each scenario, in tables.

/// How a scenario goes.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub name: &'static str,
    /// Exit code, or 128 + signal.
    pub code: i32,
    /// What `verify` says of each process, in the order in which they began. Behind a bar: what it says is not exact.
    pub processes: &'static [&'static str],
    /// Functions that were interrupted at a moment that nobody chose: their entries may be one off.
    pub open: &'static [&'static str],
    /// The function that was interrupted: `verify --interrupted` must name it.
    pub interrupted: Option<&'static str>,
    /// What else `verify` says.
    pub says: &'static str,
    /// Functions whose counts are lost, as `verify` says.
    pub lost: &'static [&'static str],
}

pub(crate) const fn scenario(name: &'static str, code: i32, processes: &'static [&'static str]) -> Scenario {
    Scenario { name, code, processes, open: &[], interrupted: None, says: "", lost: &[] }
}

impl Scenario {
    pub(crate) const fn open(self, open: &'static [&'static str]) -> Self {
        Self { open, ..self }
    }

    const fn loses(self, lost: &'static [&'static str]) -> Self {
        Self { lost, ..self }
    }

    pub(crate) const fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }

    pub(crate) const fn interrupts(self, function: &'static str) -> Self {
        Self { interrupted: Some(function), ..self }
    }
}

pub(crate) const ABORT: &str = "killed by SIGABRT (6) (abort)";
pub(crate) const UNSEEN: &str = "no end was seen (killed, or still running) | no end of the process was seen";

/// Programs in C.
pub(crate) const ENDS: &[Scenario] = &[
    scenario("nothing", 0, &["exit 0"]),
    scenario("end_exit", 7, &["exit 7"]),
    scenario("end_quietly", 3, &["exit 3 (_exit)"]),
    scenario("end_quietly_c99", 4, &["exit 4 (_exit)"]),
    scenario("end_quickly", 5, &["exit 5 (quick_exit)"]),
    scenario("end_abort", 128 + 6, &[ABORT]),
    scenario("end_assert", 128 + 6, &[ABORT]),
    scenario("end_signal_raised", 128 + 15, &["killed by SIGTERM (15) (sent by itself)"]),
    scenario("end_interrupted", 128 + 2, &["killed by SIGINT (2) (sent by itself)"]),
    scenario("end_killed", 128 + 9, &["killed by SIGKILL (9) (sent by itself)"]),
    scenario("end_signal_in_thread", 128 + 15, &["killed by SIGTERM (15) (sent by itself)"]),
    scenario("end_signal_queued", 128 + 10, &["killed by SIGUSR1 (10) (sent by itself)"]),
    scenario("end_signal_of_group", 128 + 15, &["killed by SIGTERM (15) (sent by itself)"]),
    scenario("end_signal_of_named_group", 128 + 15, &["killed by SIGTERM (15) (sent by itself)"]),
    scenario("end_after_blocked_signal", 9, &["exit 9 (_exit)"]),
    scenario("end_blocked_signal_let_in", 128 + 15, &[UNSEEN]),
    scenario("end_trap", 128 + 4, &[UNSEEN]),
    scenario("end_bare_call", 6, &[UNSEEN]),
    scenario("end_alarm", 128 + 14, &[UNSEEN]),
    scenario("end_pipe", 128 + 13, &[UNSEEN]),
    scenario("end_exec", 0, &["replaced by exec of /proc/self/exe", "exit 0"]),
    scenario("end_exec_list", 0, &["replaced by exec of true"]),
    scenario("end_exec_environment", 0, &["replaced by exec of /bin/true"]),
    scenario("end_exec_file", 0, &["replaced by exec of an open file"]),
    scenario("end_exec_path", 0, &["replaced by exec of true"]),
    scenario("end_after_failed_exec", 8, &["exit 8 (_exit)"]),
    scenario("end_fault", 128 + 11, &[UNSEEN]).interrupts("victim"),
    scenario("end_bus", 128 + 7, &[UNSEEN]).interrupts("victim"),
    scenario("end_counted_loop", 128 + 11, &[UNSEEN])
        .interrupts("sweep")
        .open(&["sweep"])
        .says("in loops whose turns are counted when the loop begins"),
    scenario("end_division", 128 + 8, &[UNSEEN]).interrupts("end_division"),
    scenario("end_stack", 128 + 11, &[UNSEEN]).interrupts("recurse"),
    scenario("end_memory", 128 + 6, &[ABORT]),
    scenario("end_cpu", 128 + 24, &[UNSEEN]).open(&["branchy", "even", "odd"]),
    scenario("end_exit_in_handler", 11, &["exit 11"]),
    scenario("end_quiet_in_handler", 12, &["exit 12 (_exit)"]),
    scenario("end_handler_and_default", 128 + 15, &["killed by SIGTERM (15) (sent by itself)"]),
    scenario(
        "end_reported",
        128 + 11,
        &["killed by SIGSEGV (11) (sent by itself) | a signal handler (or cancellation) interrupted other code"],
    )
    .interrupts("victim"),
    scenario("end_handled", 0, &["exit 0"]),
    scenario("end_after_abort", 13, &["exit 13"]),
    scenario("end_after_abort_was_left", 128 + 11, &[UNSEEN]).interrupts("victim"),
    scenario("end_after_assert_was_left", 128 + 11, &[UNSEEN]).interrupts("victim"),
    scenario("end_after_quick_exit_was_left", 128 + 11, &[UNSEEN]).interrupts("victim"),
    scenario("end_recovered", 14, &["exit 14 | recurse: called"]),
    scenario("end_interrupted_loop", 15, &["exit 15 (_exit) | a signal handler (or cancellation) interrupted other code"])
        .interrupts("spin"),
    scenario(
        "end_interrupted_on_own_stack",
        15,
        &["exit 15 (_exit), while 1 other thread waited (1 in futex) | a signal handler (or cancellation) interrupted other code"],
    )
    .interrupts("spin"),
    scenario(
        "end_interrupted_beneath_another",
        15,
        &["exit 15 (_exit) | a signal handler (or cancellation) interrupted other code"],
    )
    .interrupts("spin"),
    scenario("end_interrupted_unread", 15, &["exit 15 (_exit) | a signal handler (or cancellation) interrupted other code"])
        .interrupts("spin"),
    scenario("end_interrupted_in_free", 15, &["exit 15 (_exit) | a signal handler (or cancellation) interrupted other code"])
        .interrupts("give_back"),
    scenario(
        "end_interrupted_in_first_malloc",
        15,
        &["exit 15 (_exit) | a signal handler (or cancellation) interrupted other code"],
    )
    .interrupts("borrow"),
    scenario("end_interrupted_on_context", 15, &["exit 15 (_exit) | a signal handler (or cancellation) interrupted other code"])
        .interrupts("spin"),
    scenario(
        "end_timed_out",
        16,
        &["exit 16 | 3 signal handlers (or cancellations) interrupted other code and did not return to it"],
    )
    .interrupts("spin"),
    scenario("end_timed_out_elsewhere", 17, &["exit 17 | 3 signal handlers (or cancellations) interrupted other code"])
        .interrupts("spin"),
    scenario("end_timed_out_at_once", 19, &["exit 19"]),
    scenario("end_jumped_over_remains", 18, &["exit 18"]),
    scenario("thread_ended_in_handler", 0, &["exit 0 | a signal handler (or cancellation) interrupted other code"])
        .interrupts("spin"),
    scenario("thread_ended_in_c11_handler", 0, &["exit 0 | a signal handler (or cancellation) interrupted other code"])
        .interrupts("spin"),
    scenario("thread_cancelled_at_once", 0, &["exit 0 | a signal handler (or cancellation) interrupted other code"])
        .interrupts("spin"),
    scenario("threads", 0, &["exit 0"]),
    scenario("short_threads", 0, &["exit 0"]),
    scenario("threads_cancelled", 0, &["exit 0"]),
    scenario("threads_c11", 0, &["exit 0"]),
    scenario("threads_unseen", 0, &["exit 0 | A thread ended by a bare system call, and another one got its stack"]).loses(&[
        "thread_work",
        "branchy",
        "even",
        "odd",
    ]),
    scenario("threads_late", 0, &["exit 0"]),
    scenario("threads_exit", 21, &["exit 21, while 1 other thread waited (1 in pause)"]),
    scenario("threads_end_quietly", 22, &["exit 22 (_exit), while 1 other thread waited (1 in pause)"]),
    scenario("threads_rest", 24, &["exit 24"]),
    scenario("threads_barely_begun", 25, &["exit 25"]),
    scenario("threads_wait", 27, &["exit 27, while 3 other threads waited (1 in read, 1 in poll, 1 in clock_nanosleep)"]),
    scenario(
        "thread_goes_on",
        21,
        &["exit 21", "exit 0 (_exit), while 1 other thread waited (1 in read) | but counting went on before it ended", "exit 0"],
    ),
    scenario("thread_comes_to_rest", 128 + 6, &["killed by SIGABRT (6) (abort), while 1 other thread waited (1 in pause)"]),
    scenario("thread_comes_to_rest_quickly", 5, &["exit 5 (quick_exit), while 1 other thread waited (1 in pause)"]),
    scenario("threads_fault", 128 + 11, &[UNSEEN]).interrupts("victim"),
    scenario("main_ends_first", 0, &["exit 0"]),
    scenario("threads_spin_exit", 7, &["exit 7 | 2 other threads were running when it ended"]).interrupts("spin"),
    scenario("threads_spin_quietly", 3, &["exit 3 (_exit) | 2 other threads were running when it ended"]),
    scenario("threads_spin_exec", 0, &["replaced by exec of true | 2 other threads were running when it ended"]),
    scenario("bare_clone", 0, &["exit 0"]),
    scenario("coroutines", 0, &["exit 0"]),
    scenario("fork_exit", 0, &["exit 0", "exit 7"]),
    scenario("fork_quietly", 0, &["exit 0", "exit 3 (_exit)"]),
    scenario("fork_abort", 0, &["exit 0", ABORT]),
    scenario("fork_killed", 0, &["exit 0", "killed by SIGKILL (9) (sent by itself)"]),
    scenario("fork_shot", 0, &["exit 0", UNSEEN]),
    scenario("fork_exec", 0, &["exit 0", "replaced by exec of true"]),
    scenario("fork_fork", 0, &["exit 0", "exit 96", "exit 3 (_exit)"]),
    scenario("fork_threads", 0, &["exit 0", "exit 96"]),
    scenario("thread_forks", 0, &["exit 0", "exit 7"]),
    scenario("spawn", 0, &["exit 0"]),
    scenario("vfork_exec", 0, &["exit 0"]),
    scenario("vfork_exit", 0, &["exit 0"]),
    scenario("shell", 0, &["exit 0"]),
    scenario("ifunc", 0, &["exit 0"]),
    scenario("refused_exit", 7, &["exit 7"]),
    scenario("refused_quietly", 3, &["exit 3 (_exit)"]),
    scenario("refused_memory", 26, &["exit 26 | what it counted is lost"]).loses(&["branchy", "even", "odd"]),
    scenario("refused_list", 7, &["exit 7 | running when it ended"]).interrupts("spin"),
    scenario("limited", 7, &["exit 7"]),
    scenario("shut", 7, &["exit 7"]),
    scenario("limited_threads", 20, &["exit 20, while 1 other thread waited (1 in read) | the file could not grow"]),
    scenario("kernel_threads", 19, &["exit 19"]),
    scenario("becomes_daemon", 21, &["exit 21", "exit 0 (_exit)", "exit 0"]),
    scenario("destructor_ends", 16, &["exit 16 (_exit)"]),
    scenario("destructor_exits", 17, &["exit 17"]),
];

/// Programs in C++ (`ends.cpp`).
pub(crate) const CPP: &[Scenario] = &[
    scenario("nothing", 0, &["exit 0"]),
    scenario("exit", 7, &["exit 7"]),
    scenario("quick_exit", 8, &["exit 8 (quick_exit)"]),
    scenario("exit_in_destructor", 6, &["exit 6 (_exit)"]),
    scenario("uncaught", 128 + 6, &[ABORT]),
    scenario("noexcept", 128 + 6, &[ABORT]),
    scenario("terminate", 5, &["exit 5 (_exit)"]),
    scenario("thread_throws", 128 + 6, &["killed by SIGABRT (6) (abort), while 1 other thread waited (1 in futex)"]),
    scenario("caught", 0, &["exit 0"]),
    scenario("threads", 0, &["exit 0"]),
];

/// Programs in Rust (`rust`), with panics that unwind.
pub(crate) const RUST: &[Scenario] = &[
    scenario("nothing", 0, &["exit 0"]),
    scenario("exit", 7, &["exit 7"]),
    scenario("abort", 128 + 6, &[ABORT]),
    scenario("panic", 101, &["exit 101"]),
    scenario("caught", 0, &["exit 0"]),
    scenario("panic_in_destructor", 101, &["exit 101"]),
    scenario("panic_while_panicking", 128 + 6, &[ABORT]),
    scenario("threads", 0, &["exit 0"]),
    scenario("panicking_threads", 0, &["exit 0"]),
    scenario("detached", 0, &["exit 0, while 1 other thread waited (1 in clock_nanosleep)"]),
    scenario("exec", 0, &["replaced by exec of true"]),
    scenario("child", 0, &["exit 0"]),
];

/// The same with `panic = "abort"`.
pub(crate) const RUST_ABORTS: &[Scenario] = &[
    scenario("nothing", 0, &["exit 0"]),
    scenario("panic", 128 + 6, &[ABORT]),
    scenario("panic_in_destructor", 128 + 6, &[ABORT]),
];

/// Those of them that have several threads, of which the runtime cannot know that they never count at once.
pub(crate) const SHARED_BY_THREADS: &[Scenario] = &[
    scenario(
        "threads_exit",
        21,
        &["exit 21, while 1 other thread waited (1 in pause) | Several threads may have counted in storage shared"],
    ),
    scenario("main_ends_first", 0, &["exit 0 | Several threads may have counted in storage shared"]),
    scenario("thread_forks", 0, &["exit 0 | Several threads may have counted in storage shared", "exit 7"]),
    scenario(
        "timer_threads",
        0,
        &["exit 0, while 1 other thread waited (1 in rt_sigtimedwait) | Several threads may have counted in storage shared"],
    ),
    scenario(
        "aio_threads",
        0,
        &["exit 0, while 1 other thread waited (1 in futex) | Several threads may have counted in storage shared"],
    ),
];

/// Threads that libc makes for itself, and keeps.
pub(crate) const LIBC_THREADS: &[Scenario] = &[
    scenario("timer_threads", 0, &["exit 0, while 1 other thread waited (1 in rt_sigtimedwait)"]),
    scenario("aio_threads", 0, &["exit 0, while 1 other thread waited (1 in futex)"]),
];
const LOST: [&str; 4] = ["notified", "branchy", "even", "odd"];

/// With storage `thread` nobody tells the runtime of some of them: it says so.
pub(crate) const LOST_THREADS: &[Scenario] = &[
    scenario("timer_threads", 0, &["exit 0, while 1 other thread waited (1 in rt_sigtimedwait)"]),
    scenario(
        "aio_threads",
        0,
        &["exit 0, while 1 other thread waited (1 in futex) | what such threads counted is lost; --storage=atomic counts it"],
    )
    .loses(&LOST),
];
