//! What a plugin may ask of its host while one of its tools runs.

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::{HostReply, HostRequest};

/// The host's side of a plugin's upcalls.
#[async_trait]
pub trait HostServices: Send + Sync {
    /// Answers one request of the call numbered `call`; many may be under way at once. A failure
    /// is a [`HostReply::Error`], which the tool may hand on as its own.
    async fn request(&self, call: u64, request: HostRequest, body: Bytes) -> (HostReply, Bytes);

    /// The call has ended, in whatever way: what was kept for it can go.
    fn call_ended(&self, call: u64);
}
