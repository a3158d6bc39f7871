//! Containers: interpreters with an id, an owner and an end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::cell::PausedTurn;
use super::refusal::Refusal;
use super::{Limits, Log, identifier};
use crate::sandbox::Sandbox;

/// The containers of a server.
pub(super) struct Containers {
    sandbox: Arc<dyn Sandbox>,
    limits: Limits,
    log: Log,
    all: Mutex<Known>,
}

type Known = HashMap<String, Arc<Container>>;

/// One of them.
pub(super) struct Container {
    pub(super) id: String,
    /// The key it was made for: others do not find it.
    owner: usize,
    made: Instant,
    /// Until when it counts as used. Where a cell waits, that is the end of its wait.
    used: Mutex<Instant>,
    /// Whether an answer named it.
    is_told: AtomicBool,
    pub(super) session: Arc<dyn Sandbox>,
    /// The cell that waits for answers, held by the request that uses the container.
    paused: Arc<AsyncMutex<Option<PausedTurn>>>,
}

/// A container in the hands of one request.
pub(super) struct Hold {
    pub(super) container: Arc<Container>,
    pub(super) paused: OwnedMutexGuard<Option<PausedTurn>>,
}

impl Containers {
    pub(super) fn new(sandbox: Arc<dyn Sandbox>, limits: Limits, log: Log) -> Self {
        Self { sandbox, limits, log, all: Mutex::default() }
    }

    /// A new container for this key. Where there are as many as there may be, the one goes that the key left alone for longest.
    pub(super) fn make(&self, owner: usize) -> Result<Hold, Refusal> {
        let mut all = self.all();
        self.sweep_of(&mut all);
        if all.len() >= self.limits.containers {
            let idle = all.values().filter(|it| it.owner == owner && it.is_idle()).min_by_key(|it| it.used());
            let Some(idle) = idle.map(|it| it.id.clone()) else {
                return Err(Refusal::overloaded("as many containers are in use"));
            };
            all.remove(&idle);
            (self.log)(&format!("{idle} is gone: it was idle, and a new one needed its place"));
        }
        let now = Instant::now();
        let container = Arc::new(Container {
            id: identifier("container"),
            owner,
            made: now,
            used: Mutex::new(now),
            is_told: AtomicBool::new(false),
            session: Arc::clone(&self.sandbox).session(),
            paused: Arc::new(AsyncMutex::new(None)),
        });
        all.insert(container.id.clone(), Arc::clone(&container));
        container.hold()
    }

    /// The container of this id, for the key that owns it.
    pub(super) fn find(&self, id: &str, owner: usize) -> Result<Hold, Refusal> {
        let mut all = self.all();
        self.sweep_of(&mut all);
        let container = all.get(id).filter(|container| container.owner == owner).map(Arc::clone);
        container.ok_or_else(|| Refusal::no_container(id))?.hold()
    }

    /// Drops the containers whose time is over. Whoever holds one at the moment still ends what it began.
    pub(super) fn sweep(&self) {
        self.sweep_of(&mut self.all());
    }

    fn sweep_of(&self, all: &mut Known) {
        all.retain(|id, container| {
            let over = container.over(&self.limits);
            if let Some(why) = over {
                (self.log)(&format!("{id} is gone: {why}"));
            }
            over.is_none()
        });
    }

    fn all(&self) -> MutexGuard<'_, Known> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When a container that was used now ends at the earliest, as replies say it.
    pub(super) fn expires(&self) -> String {
        let idle = SignedDuration::try_from(self.limits.idle).unwrap_or(SignedDuration::MAX);
        let end = Timestamp::now().saturating_add(idle).unwrap_or(Timestamp::MAX);
        end.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
    }

    /// Lets go of all of them.
    pub(super) async fn close(&self) {
        let all = std::mem::take(&mut *self.all());
        for container in all.into_values() {
            // A cell that waits holds its session, until the task is gone that it ran in: only then is it known what has
            // to be removed.
            drop(container.paused.lock().await.take());
            while Arc::strong_count(&container.session) > 1 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            container.session.close().await;
        }
    }
}

impl Container {
    fn hold(self: Arc<Self>) -> Result<Hold, Refusal> {
        let paused = Arc::clone(&self.paused).try_lock_owned();
        let paused = paused.map_err(|_| Refusal::conflict(&self.id))?;
        Ok(Hold { container: self, paused })
    }

    fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody holds it and no cell waits in it.
    fn is_idle(&self) -> bool {
        self.paused.try_lock().is_ok_and(|paused| paused.as_ref().is_none_or(|turn| turn.waits_for().is_none()))
    }

    /// Why it has to go, when it has.
    fn over(&self, limits: &Limits) -> Option<&'static str> {
        let is_held = self.paused.try_lock().is_err();
        match () {
            () if self.made.elapsed() > limits.age => Some("no container lives longer"),
            () if is_held => None,
            () if !self.is_told.load(Ordering::Relaxed) => Some("the request that made it brought no answer"),
            // Of an instant to come nothing has elapsed.
            () if self.used().elapsed() > limits.idle => Some("nobody used it any more"),
            () => None,
        }
    }
}

impl Hold {
    /// An answer names the container: from now on somebody may come back to it.
    pub(super) fn tell(&self) {
        self.container.is_told.store(true, Ordering::Relaxed);
    }

    /// Leaves a paused cell in the container. Calls that have no answer when `patience` is over time out in the code.
    pub(super) fn leave(mut self, mut turn: PausedTurn, patience: Duration) {
        self.tell();
        let end = Instant::now() + patience;
        turn.waits_until = end;
        *self.paused = Some(turn);
        let place = Arc::downgrade(&self.container.paused);
        drop(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(end.into()).await;
            // The container may be gone, and the cell may have gone on, to another wait or another cell.
            let Some(place) = place.upgrade() else { return };
            let mut paused = place.lock().await;
            if let Some(turn) = paused.as_mut().filter(|turn| turn.waits_until <= Instant::now()) {
                turn.time_out(patience);
            }
        });
    }
}

impl Drop for Hold {
    /// However a request ends, its container was used until now.
    fn drop(&mut self) {
        let now = Instant::now();
        let end = self.paused.as_ref().map_or(now, |turn| turn.waits_until.max(now));
        *self.container.used.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }
}
