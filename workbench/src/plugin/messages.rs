//! What host and plugin worker say to each other. The bodies of calls, answers, requests and
//! replies are messages of `plugin_api::wire`, which the worker relays without reading them.

use bytes::Bytes;
use plugin_api::wire;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::frames;

/// Calls the worker runs at once: one thread each.
pub(super) const CALLS_IN_FLIGHT: usize = 8;

/// From the host.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum ToWorker {
    /// Run this message through `workbench_call`.
    Call {
        /// Never used twice in the life of a client.
        id: u64,
    },
    /// The answer to [`FromWorker::Request`].
    Reply {
        /// The request's.
        id: u64,
    },
}

/// From the worker.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum FromWorker {
    /// The library is loaded and of our ABI.
    Ready,
    /// The library cannot be used; the worker ends.
    Failed {
        /// Why.
        reason: LoadFailure,
    },
    /// What `workbench_call` answered.
    Answer {
        /// The call's.
        id: u64,
    },
    /// `workbench_call` did not understand its message; the body is its text.
    Refused {
        /// The call's.
        id: u64,
    },
    /// The plugin asks the host for something.
    Request {
        /// Chosen by the worker, in its own count.
        id: u64,
        /// The call that asks.
        call: u64,
    },
}

/// Why a library cannot be used.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LoadFailure {
    /// The system cannot load it, or it is not a plugin.
    Unusable {
        /// The system's words.
        message: String,
    },
    /// It was built for another version of the C boundary.
    Abi {
        /// The library's version.
        theirs: u32,
    },
}

/// Longest head of a message, in bytes. What a plugin says in it is parsed, and may take many times that memory.
const MAX_HEAD: usize = 1 << 20;

/// Takes a message of `plugin_api::wire` apart; the body is shared, not copied.
pub(super) fn split<H: DeserializeOwned>(message: &Bytes) -> Result<(H, Bytes), String> {
    if message.len() > MAX_HEAD && !message[..MAX_HEAD].contains(&b'\n') {
        return Err(format!("the head of a message is over the limit of {MAX_HEAD} bytes"));
    }
    let (head, body) = wire::split(message)?;
    Ok((head, message.slice_ref(body)))
}

/// Says so when a message is longer than a frame may be: the host would have to stop a worker that sends it.
pub(super) fn within_limit(what: &str, bytes: usize) -> Result<(), String> {
    let most = frames::MAX_BODY;
    if bytes as u64 > most {
        return Err(format!("its {what} of {bytes} bytes is over the limit of {most}"));
    }
    Ok(())
}
