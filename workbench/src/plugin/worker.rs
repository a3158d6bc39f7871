//! The plugin worker: the hidden subcommand `__plugin-worker LIBRARY OUT`, in which a plugin runs.
//!
//! The channel to the host arrives as standard input. Whatever the plugin prints goes to standard
//! output and error, which the host keeps as log text; the channel it never sees.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, Thread};

use bytes::Bytes;
use plugin_api::ToolError;
use plugin_api::wire::{HostReply, join};

use super::library::PluginLibrary;
use super::messages::{CALLS_IN_FLIGHT, FromWorker, ToWorker, within_limit};
use crate::exit::Exit;
use crate::frames::{self, Frame};
use crate::{env, lockdown, printer};

/// Runs the worker until the host closes the channel. `main` calls this before it starts anything else.
pub fn run() -> ExitCode {
    let mut paths = std::env::args_os().skip(2).map(PathBuf::from);
    let (Some(_), Some(library), Some(out)) = (std::env::var_os(env::WORKER_GUARD), paths.next(), paths.next()) else {
        printer::note("error: __plugin-worker is started by the workbench itself and is no command");
        return Exit::Usage.into();
    };
    match work(&library, &out) {
        Ok(()) => Exit::Success.into(),
        Err(error) => {
            printer::note(&format!("plugin worker: {error}"));
            Exit::Bug.into()
        }
    }
}

/// The order matters: the lock binds the calling thread and what it starts later, so it comes before the first thread,
/// and before the library, whose constructors run while it is loaded.
fn work(library: &Path, out: &Path) -> io::Result<()> {
    let link = take_link()?;
    // What a tool calls `out/436535.jpg` is that to the plugin, too. Without a run there is no such folder.
    let _nothing_to_write_to = out.parent().map(std::env::set_current_dir);
    lockdown::plugin::lock(library, out)?;
    let channel = Arc::new(Channel::new(link.try_clone()?));
    let jobs = Jobs::start(&channel)?;
    match PluginLibrary::open(library) {
        Ok(plugin) => {
            channel.send(&FromWorker::Ready, &[])?;
            serve(link, &channel, &jobs, &Arc::new(plugin))
        }
        Err(reason) => channel.send(&FromWorker::Failed { reason }, &[]),
    }
}

/// Moves the channel away from standard input, where a plugin that reads would steal from it.
fn take_link() -> io::Result<File> {
    let link = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(File::from(link))
}

/// A call on its way to a thread of the pool.
struct Job {
    plugin: Arc<PluginLibrary>,
    id: u64,
    message: Bytes,
}

/// Calls that wait for a thread, and threads that wait for a call.
#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// The one that was last at work, whose memory is still near, stands last and is taken first.
    idle: Vec<Thread>,
}

impl Jobs {
    fn start(channel: &Arc<Channel>) -> io::Result<Arc<Mutex<Self>>> {
        let jobs = Arc::new(Mutex::new(Self::default()));
        for number in 0..CALLS_IN_FLIGHT {
            let (jobs, channel) = (Arc::clone(&jobs), Arc::clone(channel));
            thread::Builder::new().name(format!("call-{number}")).spawn(move || run_jobs(&jobs, &channel))?;
        }
        Ok(jobs)
    }

    fn add(&mut self, job: Job) {
        self.waiting.push_back(job);
        if let Some(thread) = self.idle.pop() {
            thread.unpark();
        }
    }

    /// The next call, or a note that this thread waits for one.
    fn take(&mut self, thread: &Thread) -> Option<Job> {
        // A thread may wake unasked, and its older note would then be answered instead of another's.
        self.idle.retain(|idle| idle.id() != thread.id());
        let job = self.waiting.pop_front();
        if job.is_none() {
            self.idle.push(thread.clone());
        }
        job
    }
}

fn run_jobs(jobs: &Mutex<Jobs>, channel: &Channel) {
    let this = thread::current();
    loop {
        let job = lock(jobs).take(&this);
        let Some(Job { plugin, id, message }) = job else {
            thread::park();
            continue;
        };
        let sent = match plugin.call(&message, &|request| channel.ask(id, request)) {
            Ok(answer) => channel.send(&FromWorker::Answer { id }, answer.bytes()),
            Err(text) => channel.send(&FromWorker::Refused { id }, text.as_bytes()),
        };
        // The host is gone, or the plugin has closed the channel, on which the main thread may then wait for ever.
        if let Err(error) = sent {
            printer::note(&format!("plugin worker: it cannot answer: {error}"));
            std::process::abort();
        }
    }
}

/// Hands on what the host says until it closes the channel.
fn serve(link: File, channel: &Channel, jobs: &Mutex<Jobs>, plugin: &Arc<PluginLibrary>) -> io::Result<()> {
    let mut link = BufReader::new(link);
    while let Some(Frame { head, body }) = frames::read(&mut link)? {
        match head {
            ToWorker::Call { id } => {
                lock(jobs).add(Job { plugin: Arc::clone(plugin), id, message: body });
            }
            ToWorker::Reply { id } => channel.hand_over(id, body),
        }
    }
    Ok(())
}

/// The worker's end of the channel, shared by its threads.
struct Channel {
    link: Mutex<BufWriter<File>>,
    waiting: Mutex<HashMap<u64, mpsc::SyncSender<Bytes>>>,
    next: AtomicU64,
}

impl Channel {
    fn new(link: File) -> Self {
        Self { link: Mutex::new(BufWriter::new(link)), waiting: Mutex::default(), next: AtomicU64::new(1) }
    }

    fn send(&self, head: &FromWorker, body: &[u8]) -> io::Result<()> {
        frames::write_parts(&mut *lock(&self.link), head, &[body])
    }

    /// Sends a request of the plugin to the host and waits for the reply, which becomes the plugin's own.
    fn ask(&self, call: u64, message: &[u8]) -> Vec<u8> {
        if let Err(text) = within_limit("request", message.len()) {
            return failed(&text);
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, receiver) = mpsc::sync_channel(1);
        lock(&self.waiting).insert(id, reply);
        let sent = self.send(&FromWorker::Request { id, call }, message);
        match sent.map(|()| receiver.recv()) {
            // Nobody else holds it, so it is not copied.
            Ok(Ok(reply)) => reply.into(),
            _ => failed("the host no longer answers"),
        }
    }

    fn hand_over(&self, id: u64, reply: Bytes) {
        if let Some(waiting) = lock(&self.waiting).remove(&id) {
            // A thread that no longer waits was stopped with its call.
            let _gone = waiting.send(reply);
        }
    }
}

fn failed(text: &str) -> Vec<u8> {
    join(&HostReply::Error(ToolError::new(text)), &[])
}

/// A thread that panicked while it held a lock leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
