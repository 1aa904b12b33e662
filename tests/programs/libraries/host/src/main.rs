//! Uses the one and opens the other, from several threads.

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering};

unsafe extern "C" {
    fn dlopen(path: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

type Turn = extern "C" fn(u64, extern "C" fn(u64) -> u64) -> u64;

static CALLED_BACK: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
extern "C" fn called_back(number: u64) -> u64 {
    CALLED_BACK.fetch_add(1, Ordering::Relaxed);
    if number % 2 == 0 { number } else { number + 1 }
}

fn spread(turn: Turn) -> u64 {
    let turn_all = move |start: u64| (start..start + 1000).map(|number| turn(number, called_back)).sum::<u64>();
    let threads: Vec<_> =
        (0..4).map(|start| std::thread::spawn(move || (turn_all(start), common::join_words(&["a", "b"])))).collect();
    let main = turn_all(9);
    threads.into_iter().map(|thread| thread.join().expect("a thread")).map(|(sum, word)| sum + word.len() as u64).sum::<u64>()
        + main
}

fn main() {
    let words = ["stone", "wheel", "", "flour"];
    std::panic::set_hook(Box::new(|_| {}));
    for end in 0..5 {
        let joined = std::panic::catch_unwind(|| common::join_words(words.get(..end).unwrap_or(&words)));
        println!("{joined:?}", joined = joined.ok());
    }
    println!("{} {} {}", common::widest(&[1, 1000, 99]), common::widest(&words), common::WORDS.get());

    let path = std::env::current_exe().expect("a program").with_file_name("libplug.so");
    let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
    let mut total = 0;
    for round in 0..3 {
        // SAFETY: the library has these functions, of these types, and stays open while they are called.
        unsafe {
            let library = dlopen(path.as_ptr(), 2);
            assert!(!library.is_null(), "{path:?} cannot be opened");
            let turn = std::mem::transmute::<*mut c_void, Turn>(dlsym(library, c"plug_turn".as_ptr()));
            let turned = std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(dlsym(library, c"plug_turned".as_ptr()));
            let before = turned();
            println!("round {round}: {}", spread(turn));
            total += turned() - before;
            dlclose(library);
        }
    }
    common::print_tallies();
    eprintln!("tally plug_turn {total}");
    eprintln!("tally turn {total}");
    eprintln!("tally called_back {}", CALLED_BACK.load(Ordering::Relaxed));
    std::process::exit(5);
}
