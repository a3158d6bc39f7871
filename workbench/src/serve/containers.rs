//! Containers: interpreters with an id, an owner and an end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::cell::PausedTurn;
use super::refusal::Refusal;
use super::{Limits, identifier};
use crate::sandbox::Sandbox;

/// The containers of a server.
pub(super) struct Containers {
    sandbox: Arc<dyn Sandbox>,
    limits: Limits,
    all: Mutex<HashMap<String, Arc<Container>>>,
}

/// One of them.
pub(super) struct Container {
    pub(super) id: String,
    /// The key it was made for: others do not find it.
    owner: usize,
    made: Instant,
    used: Mutex<Instant>,
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
    pub(super) fn new(sandbox: Arc<dyn Sandbox>, limits: Limits) -> Self {
        Self { sandbox, limits, all: Mutex::new(HashMap::new()) }
    }

    /// A new container for this key.
    pub(super) fn make(&self, owner: usize) -> Result<Hold, Refusal> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= self.limits.containers {
            return Err(Refusal::overloaded("as many containers are in use"));
        }
        let now = Instant::now();
        let container = Arc::new(Container {
            id: identifier("container"),
            owner,
            made: now,
            used: Mutex::new(now),
            session: Arc::clone(&self.sandbox).session(),
            paused: Arc::new(AsyncMutex::new(None)),
        });
        all.insert(container.id.clone(), Arc::clone(&container));
        container.hold()
    }

    /// The container of this id, for the key that owns it.
    pub(super) fn find(&self, id: &str, owner: usize) -> Result<Hold, Refusal> {
        self.sweep();
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let container = all.get(id).filter(|container| container.owner == owner).map(Arc::clone);
        let container = container.ok_or_else(|| Refusal::no_container(id))?;
        *container.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        container.hold()
    }

    /// Drops the containers whose time is over. Whoever holds one at the moment still ends what it began.
    pub(super) fn sweep(&self) -> Vec<String> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |container: &Container| {
            let used = *container.used.lock().unwrap_or_else(PoisonError::into_inner);
            let is_held = container.paused.try_lock().is_err();
            (used.elapsed() > self.limits.idle && !is_held) || container.made.elapsed() > self.limits.age
        };
        let over: Vec<String> = all.values().filter(|it| is_over(it)).map(|it| it.id.clone()).collect();
        for id in &over {
            all.remove(id);
        }
        over
    }

    /// When a container that was used now ends, as replies say it.
    pub(super) fn expires(&self) -> String {
        let idle = SignedDuration::try_from(self.limits.idle).unwrap_or(SignedDuration::MAX);
        let end = Timestamp::now().saturating_add(idle).unwrap_or(Timestamp::MAX);
        end.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
    }

    /// Lets go of all of them.
    pub(super) async fn close(&self) {
        let all = std::mem::take(&mut *self.all.lock().unwrap_or_else(PoisonError::into_inner));
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
}

impl Hold {
    /// Leaves a paused cell in the container. Calls that have no answer when `patience` is over time out in the code.
    pub(super) fn leave(mut self, mut turn: PausedTurn, patience: Duration) {
        *self.container.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let place = Arc::downgrade(&self.container.paused);
        let number = turn.number_pause();
        *self.paused = Some(turn);
        drop(self.paused);
        tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            // The container may be gone, and the cell may have gone on.
            let Some(place) = place.upgrade() else { return };
            let mut paused = place.lock().await;
            if let Some(turn) = paused.as_mut().filter(|turn| turn.pause() == number) {
                turn.time_out(patience);
            }
        });
    }
}
