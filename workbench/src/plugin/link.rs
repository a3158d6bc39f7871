//! The channel to one worker process: calls go out, answers and requests come in, until it dies.

use std::io;
use std::path::Path;
use std::sync::Arc;
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
use super::pending::{Answered, End, Given, PendingCalls, Unanswered};
use super::process::WorkerProcess;
use super::services::HostServices;
use super::tail::Tail;
use crate::death::Death;
use crate::frames::{self, Frame};

/// How long a worker may take to load its library, whose constructors are foreign code.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Requests of one worker that are served at once; more wait. A tool that fetches on many threads has enough of it.
const UPCALLS_AT_ONCE: usize = 64;

/// KiB of replies that may wait for a worker to read them. A plugin that asks and does not listen must not fill the
/// host's memory.
const REPLY_ROOM: usize = 64 * 1024;

/// KiB of requests that are served at once; more wait to be read. One that is as long as a frame may be fits.
const REQUEST_ROOM: usize = 512 * 1024;

/// Bytes of a plugin's reason for a refusal that are told.
const REASON: usize = 4096;

/// How long frames of a process that has ended may still come in.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);

/// Why a worker did not come up.
#[derive(Debug)]
pub(super) enum StartFailure {
    /// The library cannot be used.
    Library(LoadFailure),
    /// The process could not be started, or died.
    Process(Death),
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
            .map_err(|error| StartFailure::Process(format!("{}: {error}", program.display()).into()))?;
        let (incoming, outgoing) = stream.into_split();
        let mut incoming = BufReader::new(incoming);
        let Ok(first) = timeout(START_LIMIT, frames::read_async(&mut incoming)).await else {
            process.kill().await;
            return Err(StartFailure::Process(format!("killed after {} s of loading", START_LIMIT.as_secs()).into()));
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
                Err(StartFailure::Process(format!("{} is not a workbench of this version", program.display()).into()))
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
        let server = UpcallServer {
            outgoing: outgoing.clone(),
            requests: Arc::new(Semaphore::new(REQUEST_ROOM)),
            replies: Arc::new(Semaphore::new(REPLY_ROOM)),
            pending: Arc::clone(&pending),
            services,
            log,
        };
        tokio::spawn(server.attend(process, incoming, Arc::clone(&kill)));
        Self { outgoing, pending, kill }
    }

    /// Whether the worker has died.
    pub(super) fn is_dead(&self) -> bool {
        self.pending.is_dead()
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
        self.pending.death().await;
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

/// What attends to a worker for as long as it lives.
#[derive(Clone)]
struct UpcallServer {
    outgoing: UnboundedSender<Outgoing>,
    /// Room for requests that are served, in KiB.
    requests: Arc<Semaphore>,
    /// Room for replies that are not read yet, in KiB.
    replies: Arc<Semaphore>,
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
        let death = match end {
            Some(Ok(())) => process.cause().await,
            // A process that died with words of ours unread resets the channel.
            Some(Err(error)) if error.kind() != io::ErrorKind::InvalidData && error.kind() != io::ErrorKind::Other => {
                process.cause().await
            }
            Some(Err(error)) => {
                process.kill().await;
                format!("broke the protocol: {error}").into()
            }
            None => {
                process.kill().await;
                "stopped by the host".into()
            }
        };
        // Nothing may be done for a call any more once it has failed.
        upcalls.shutdown().await;
        self.pending.fail_all(&death);
    }

    async fn read_all(&self, mut incoming: BufReader<OwnedReadHalf>, upcalls: &mut JoinSet<()>) -> io::Result<()> {
        while let Some(Frame { head, body }) = frames::read_async(&mut incoming).await? {
            match head {
                FromWorker::Answer { id } => self.pending.resolve(id, Ok(body))?,
                FromWorker::Refused { id } => {
                    let text = String::from_utf8_lossy(&body[..body.len().min(REASON)]).into_owned();
                    self.pending.resolve(id, Err(Unanswered::Refused(text)))?;
                }
                FromWorker::Request { id, call } => {
                    while upcalls.try_join_next().is_some() {}
                    if upcalls.len() >= UPCALLS_AT_ONCE {
                        upcalls.join_next().await;
                    }
                    let room = room_for(body.len(), &self.requests, REQUEST_ROOM).await;
                    self.serve(id, call, body, room, upcalls);
                }
                FromWorker::Ready | FromWorker::Failed { .. } => {
                    return Err(io::Error::other("it said twice that it is ready"));
                }
            }
        }
        Ok(())
    }

    fn serve(&self, id: u64, call: u64, message: Bytes, room: Option<OwnedSemaphorePermit>, upcalls: &mut JoinSet<()>) {
        let server = self.clone();
        let under_way = self.pending.upcall_started(call);
        upcalls.spawn(async move {
            let (reply, body) = if under_way {
                let (number, reply, body) = server.answer(call, message).await;
                // Before there is room for the answer: the clock of a plugin that does not listen goes on.
                let number = number.filter(|_| matches!(reply, HostReply::Json));
                let given = number.map(|number| Given { number, document: body.clone() });
                server.pending.upcall_ended(call, given);
                (reply, body)
            } else {
                drop(message);
                (HostReply::Error(ToolError::new("the call that asks has ended")), Bytes::new())
            };
            // The request is served and gone; the reply has a room of its own.
            drop(room);
            server.reply(id, &reply, body).await;
        });
    }

    /// The reply to a request, its body, and the number that the request gives a JSON document.
    async fn answer(&self, call: u64, message: Bytes) -> (Option<u64>, HostReply, Bytes) {
        match split(&message) {
            Ok((HostRequest::Log { message }, _)) => {
                self.log.add(format!("{message}\n").as_bytes());
                (None, HostReply::Done, Bytes::new())
            }
            Ok((request, body)) => {
                let number = if let HostRequest::GetJson { document, .. } = &request { *document } else { None };
                let (reply, body) = self.services.request(call, request, body).await;
                (number, reply, body)
            }
            Err(error) => {
                let message = format!("the host does not understand this request of the plugin: {error}");
                (None, HostReply::Error(ToolError::new(message)), Bytes::new())
            }
        }
    }

    async fn reply(&self, id: u64, reply: &HostReply, body: Bytes) {
        let mut body = [Bytes::from(join(reply, &[])), body];
        let length = body[0].len() + body[1].len();
        if length as u64 > frames::MAX_BODY {
            // A worker would take that for a broken frame.
            let message = format!("the answer has {length} bytes, over the limit of {}", frames::MAX_BODY);
            body = [Bytes::from(join(&HostReply::Error(ToolError::new(message)), &[])), Bytes::new()];
        }
        let room = room_for(body[1].len(), &self.replies, REPLY_ROOM).await;
        // A closed queue means a dead worker: nobody waits for the reply.
        let _queued = self.outgoing.send(Outgoing { head: ToWorker::Reply { id }, body, room });
    }
}

/// Waits until there is room for so many bytes; what is longer than all of it takes all.
async fn room_for(bytes: usize, room: &Arc<Semaphore>, most: usize) -> Option<OwnedSemaphorePermit> {
    let kibibytes = bytes.div_ceil(1024).clamp(1, most) as u32;
    // It is never closed.
    Arc::clone(room).acquire_many_owned(kibibytes).await.ok()
}
