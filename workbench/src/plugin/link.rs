//! The channel to one worker process: calls go out, answers and requests come in, until it dies.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use plugin_api::ToolError;
use plugin_api::wire::{HostReply, HostRequest, join};
use tokio::io::{BufReader, BufWriter};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::messages::{FromWorker, LoadFailure, ToWorker, split};
use super::process::WorkerProcess;
use super::services::HostServices;
use super::tail::Tail;
use crate::frames::{self, Frame};

/// How long a worker may take to load its library, whose constructors are foreign code.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Requests of one worker that are served at once; more wait. A tool that fetches on many threads has enough of it.
const UPCALLS_AT_ONCE: usize = 64;

/// KiB of replies that may wait for a worker to read them. A plugin that asks and does not listen must not fill the
/// host's memory.
const REPLY_ROOM: usize = 64 * 1024;

/// How long frames of a process that has ended may still come in.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);

/// Why a worker did not come up.
#[derive(Debug)]
pub(super) enum StartFailure {
    /// The library cannot be used.
    Library(LoadFailure),
    /// The process could not be started, or died; the text names the cause.
    Process(String),
}

/// Why a message got no answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unanswered {
    /// The worker died; the text names the cause.
    Died(String),
    /// The call took too long, and the worker was killed for it.
    TimedOut,
    /// The plugin did not understand the message; the text is its own.
    Refused(String),
}

/// What the plugin answered.
#[derive(Debug)]
pub(super) struct Answered {
    /// A message of `plugin_api::wire`.
    pub(super) message: Bytes,
    /// The last JSON document that the host gave the call: most tools hand it on as it is.
    pub(super) given: Option<Bytes>,
}

/// A worker that is alive, or was. Dropping it kills the worker.
pub(super) struct Link {
    outgoing: UnboundedSender<Outgoing>,
    pending: Arc<PendingCalls>,
    kill: Arc<Notify>,
}

/// A frame on its way to the worker, with the room it takes until it is written.
struct Outgoing {
    head: ToWorker,
    /// A message, or its head and a document behind it, which so needs no copy.
    body: [Bytes; 2],
    room: Option<OwnedSemaphorePermit>,
}

impl Link {
    /// Starts a worker and waits until it has loaded the library.
    pub(super) async fn start(
        program: &Path,
        library: &Path,
        out: &Path,
        services: Arc<dyn HostServices>,
        log: Arc<Tail>,
    ) -> Result<Self, StartFailure> {
        let (process, stream) = WorkerProcess::spawn(program, library, out, Arc::clone(&log))
            .map_err(|error| StartFailure::Process(format!("{}: {error}", program.display())))?;
        let (incoming, outgoing) = stream.into_split();
        let mut incoming = BufReader::new(incoming);
        let Ok(first) = timeout(START_LIMIT, frames::read_async(&mut incoming)).await else {
            process.kill().await;
            return Err(StartFailure::Process(format!("killed after {} s of loading", START_LIMIT.as_secs())));
        };
        match first.map(|frame| frame.map(|frame| frame.head)) {
            Ok(Some(FromWorker::Ready)) => Ok(Self::over(process, incoming, outgoing, services, log)),
            Ok(Some(FromWorker::Failed { reason })) => {
                process.kill().await;
                Err(StartFailure::Library(reason))
            }
            Ok(None) => Err(StartFailure::Process(process.cause().await)),
            Ok(Some(_)) | Err(_) => {
                process.kill().await;
                Err(StartFailure::Process(format!("{} is not a workbench of this version", program.display())))
            }
        }
    }

    fn over(
        process: WorkerProcess,
        incoming: BufReader<OwnedReadHalf>,
        stream: OwnedWriteHalf,
        services: Arc<dyn HostServices>,
        log: Arc<Tail>,
    ) -> Self {
        let (outgoing, queue) = unbounded_channel();
        let (pending, kill) = (Arc::new(PendingCalls::default()), Arc::new(Notify::new()));
        // Frames are written by a task of their own, so that whoever gives up waiting leaves none half written.
        tokio::spawn(write_all(queue, stream));
        let room = Arc::new(Semaphore::new(REPLY_ROOM));
        let server = UpcallServer { outgoing: outgoing.clone(), room, pending: Arc::clone(&pending), services, log };
        tokio::spawn(server.attend(process, incoming, Arc::clone(&kill)));
        Self { outgoing, pending, kill }
    }

    /// Whether the worker has died.
    pub(super) fn is_dead(&self) -> bool {
        self.pending.death.borrow().is_some()
    }

    /// Sends one message and waits for its answer; `id` is used once. The clock of `limit` stands
    /// still while the call waits for the host.
    pub(super) async fn call(&self, id: u64, message: Bytes, limit: Duration) -> Result<Answered, Unanswered> {
        let (answer, upcalls) = self.pending.enter(id)?;
        // A closed queue means a dead worker, and then `answer` says so.
        let body = [message, Bytes::new()];
        let _queued = self.outgoing.send(Outgoing { head: ToWorker::Call { id }, body, room: None });
        self.await_answer(answer, upcalls, limit).await
    }

    async fn await_answer(
        &self,
        mut answer: oneshot::Receiver<End>,
        mut upcalls: watch::Receiver<usize>,
        mut limit: Duration,
    ) -> End {
        loop {
            let working = *upcalls.borrow_and_update() == 0;
            let since = Instant::now();
            tokio::select! {
                biased;
                end = &mut answer => return end.unwrap_or_else(|_| Err(self.pending.died())),
                Ok(()) = upcalls.changed() => {
                    if working {
                        limit = limit.saturating_sub(since.elapsed());
                    }
                }
                () = sleep(limit), if working => {
                    self.stop().await;
                    return Err(Unanswered::TimedOut);
                }
            }
        }
    }

    /// Kills the worker, soon.
    pub(super) fn kill(&self) {
        self.kill.notify_one();
    }

    /// Kills the worker and waits until it is gone.
    pub(super) async fn stop(&self) {
        self.kill();
        let mut death = self.pending.death.subscribe();
        // The sender lives in `self`, so there is an end to wait for.
        let _gone = death.wait_for(Option::is_some).await;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn write_all(mut queue: UnboundedReceiver<Outgoing>, stream: OwnedWriteHalf) {
    let mut stream = BufWriter::new(stream);
    while let Some(Outgoing { head, body: [start, rest], room }) = queue.recv().await {
        if frames::write_parts_async(&mut stream, &head, &[&start, &rest]).await.is_err() {
            return;
        }
        drop(room);
    }
}

/// The calls a worker has not answered yet, and how it died.
struct PendingCalls {
    calls: Mutex<HashMap<u64, Pending>>,
    death: watch::Sender<Option<String>>,
}

struct Pending {
    answer: oneshot::Sender<End>,
    /// Upcalls the call waits for.
    upcalls: watch::Sender<usize>,
    /// See [`Answered::given`].
    given: Option<Bytes>,
}

impl Default for PendingCalls {
    fn default() -> Self {
        Self { calls: Mutex::default(), death: watch::Sender::new(None) }
    }
}

type End = Result<Answered, Unanswered>;

type Entered = (oneshot::Receiver<End>, watch::Receiver<usize>);

impl PendingCalls {
    fn enter(&self, id: u64) -> Result<Entered, Unanswered> {
        let (answer, receiver) = oneshot::channel();
        let (upcalls, counter) = watch::channel(0);
        let mut calls = self.calls();
        // Looked at under the lock, so that no call enters behind `fail_all`.
        if self.death.borrow().is_some() {
            return Err(self.died());
        }
        calls.insert(id, Pending { answer, upcalls, given: None });
        Ok((receiver, counter))
    }

    /// An error for a call that is not under way: a worker answers each call once.
    fn resolve(&self, id: u64, end: Result<Bytes, Unanswered>) -> io::Result<()> {
        let pending = self.calls().remove(&id);
        let Pending { answer, given, .. } =
            pending.ok_or_else(|| io::Error::other(format!("it answered call {id}, which is not under way")))?;
        // Whoever asked may have gone.
        let _unheard = answer.send(end.map(|message| Answered { message, given }));
        Ok(())
    }

    /// Whether the call is still under way; if so, its clock now stands.
    fn upcall_started(&self, call: u64) -> bool {
        self.calls().get(&call).map(|pending| pending.upcalls.send_modify(|waiting| *waiting += 1)).is_some()
    }

    /// An upcall was answered, with a JSON document where one was `given`.
    fn upcall_ended(&self, call: u64, given: Option<Bytes>) {
        if let Some(pending) = self.calls().get_mut(&call) {
            pending.given = given.or(pending.given.take());
            pending.upcalls.send_modify(|waiting| *waiting -= 1);
        }
    }

    fn fail_all(&self, cause: &str) {
        let mut calls = self.calls();
        self.death.send_replace(Some(cause.to_owned()));
        for (_, pending) in calls.drain() {
            let _unheard = pending.answer.send(Err(Unanswered::Died(cause.to_owned())));
        }
    }

    fn died(&self) -> Unanswered {
        Unanswered::Died(self.death.borrow().clone().unwrap_or_default())
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Pending>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What attends to a worker for as long as it lives.
#[derive(Clone)]
struct UpcallServer {
    outgoing: UnboundedSender<Outgoing>,
    room: Arc<Semaphore>,
    pending: Arc<PendingCalls>,
    services: Arc<dyn HostServices>,
    log: Arc<Tail>,
}

impl UpcallServer {
    async fn attend(self, mut process: WorkerProcess, incoming: BufReader<OwnedReadHalf>, kill: Arc<Notify>) {
        let mut upcalls = JoinSet::new();
        let end = {
            let reading = self.read_all(incoming, &mut upcalls);
            tokio::pin!(reading);
            tokio::select! {
                biased;
                end = &mut reading => Some(end),
                () = process.ended() => Some(timeout(DRAIN_LIMIT, reading).await.unwrap_or(Ok(()))),
                () = kill.notified() => None,
            }
        };
        let cause = match end {
            Some(Ok(())) => process.cause().await,
            // A process that died with words of ours unread resets the channel.
            Some(Err(error)) if error.kind() != io::ErrorKind::InvalidData && error.kind() != io::ErrorKind::Other => {
                process.cause().await
            }
            Some(Err(error)) => {
                process.kill().await;
                format!("broke the protocol: {error}")
            }
            None => {
                process.kill().await;
                "stopped by the host".to_owned()
            }
        };
        // Nothing may be done for a call any more once it has failed.
        upcalls.shutdown().await;
        self.pending.fail_all(&cause);
    }

    async fn read_all(&self, mut incoming: BufReader<OwnedReadHalf>, upcalls: &mut JoinSet<()>) -> io::Result<()> {
        while let Some(Frame { head, body }) = frames::read_async(&mut incoming).await? {
            match head {
                FromWorker::Answer { id } => self.pending.resolve(id, Ok(body))?,
                FromWorker::Refused { id } => {
                    let text = String::from_utf8_lossy(&body).into_owned();
                    self.pending.resolve(id, Err(Unanswered::Refused(text)))?;
                }
                FromWorker::Request { id, call } => {
                    while upcalls.try_join_next().is_some() {}
                    if upcalls.len() >= UPCALLS_AT_ONCE {
                        upcalls.join_next().await;
                    }
                    self.serve(id, call, body, upcalls);
                }
                FromWorker::Ready | FromWorker::Failed { .. } => {
                    return Err(io::Error::other("it said twice that it is ready"));
                }
            }
        }
        Ok(())
    }

    fn serve(&self, id: u64, call: u64, message: Bytes, upcalls: &mut JoinSet<()>) {
        let server = self.clone();
        let under_way = self.pending.upcall_started(call);
        upcalls.spawn(async move {
            let (reply, body) = if under_way {
                let answer = server.answer(call, message).await;
                // Before there is room for the answer: the clock of a plugin that does not listen goes on.
                let (reply, body) = &answer;
                server.pending.upcall_ended(call, matches!(reply, HostReply::Json).then(|| body.clone()));
                answer
            } else {
                (HostReply::Error(ToolError::new("the call that asks has ended")), Bytes::new())
            };
            server.reply(id, &reply, body).await;
        });
    }

    async fn answer(&self, call: u64, message: Bytes) -> (HostReply, Bytes) {
        match split(&message) {
            Ok((HostRequest::Log { message }, _)) => {
                self.log.add(format!("{message}\n").as_bytes());
                (HostReply::Done, Bytes::new())
            }
            Ok((request, body)) => self.services.request(call, request, body).await,
            Err(error) => {
                let message = format!("the host does not understand this request of the plugin: {error}");
                (HostReply::Error(ToolError::new(message)), Bytes::new())
            }
        }
    }

    async fn reply(&self, id: u64, reply: &HostReply, body: Bytes) {
        let kibibytes = body.len().div_ceil(1024).clamp(1, REPLY_ROOM) as u32;
        // The room is never closed.
        let room = Arc::clone(&self.room).acquire_many_owned(kibibytes).await.ok();
        let body = [Bytes::from(join(reply, &[])), body];
        // A closed queue means a dead worker: nobody waits for the reply.
        let _queued = self.outgoing.send(Outgoing { head: ToWorker::Reply { id }, body, room });
    }
}
