//! The child's side: boots the interpreter, locks itself down, runs one script, or those of a session.
//!
//! Plain threads and blocking reads: the filter of the lock-down has no place for more.

mod interpreter;
mod json_in;
mod json_out;
mod link;
mod natives;
mod top_level;

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::rc::Rc;

use self::link::Link;
use crate::exit::Exit;
use crate::{env, lockdown, printer};

/// Stack of the interpreter: a thousand levels of recursion, Python's own limit, in an unoptimised build.
const STACK: usize = 256 * 1024 * 1024;

/// The hidden subcommand `__script-worker`.
pub fn run() -> ExitCode {
    if std::env::var_os(env::WORKER_GUARD).is_none() {
        printer::note(
            "error: __script-worker is started by the workbench itself\nhint: `workbench script` runs a script",
        );
        return Exit::Usage.into();
    }
    let worker = std::thread::Builder::new().name("script".into()).stack_size(STACK).spawn(work);
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) | Err(error) => {
            printer::note(&format!("error: the script worker failed: {error}"));
            Exit::Sandbox.into()
        }
        // The panic has printed itself, and the host reads its text.
        Ok(Err(_)) => Exit::Bug.into(),
    }
}

fn work() -> io::Result<()> {
    let link = Rc::new(RefCell::new(Link::new(take_link()?)?));
    let interpreter = interpreter::boot(&link);
    link.borrow_mut().announce()?;
    interpreter::import_ahead(&interpreter, || link.borrow().has_news());
    let Some(mut job) = link.borrow_mut().receive_job()? else { return Ok(()) };
    {
        let link = link.borrow();
        let (incoming, outgoing) = link.descriptors();
        lockdown::script::lock(job.memory, job.cpu_seconds, incoming, outgoing)?;
    }
    loop {
        let (code, out_of_memory) = interpreter::run(&interpreter, &job);
        link.borrow_mut().end(code, out_of_memory)?;
        if !job.keep_state {
            break;
        }
        // A call outside of the borrow, which must be over when the next script makes calls.
        let next = link.borrow_mut().receive_job()?;
        let Some(next) = next else { break };
        job = next;
    }
    // The process ends here; taking the interpreter apart piece by piece would only cost time.
    std::mem::forget(interpreter);
    Ok(())
}

/// Moves the link away from standard input, which becomes empty.
fn take_link() -> io::Result<File> {
    let link = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(File::from(link))
}
