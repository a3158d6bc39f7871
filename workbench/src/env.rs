//! Every environment variable the program reads or sets, with its meaning.

/// Set by the host on its own children; the hidden worker subcommands refuse to start without it.
pub const WORKER_GUARD: &str = "WORKBENCH_WORKER_GUARD";

/// Routes as `HOST=URL`, several joined with commas; `--route` adds to them, and wins for a host that both name.
pub const ROUTES: &str = "WORKBENCH_ROUTES";

/// Where the results go, instead of `results/` of the workspace or of the current folder.
pub const RESULTS: &str = "WORKBENCH_RESULTS";

/// Which `cargo` builds plugins; cargo sets it for the programs it runs.
pub const CARGO: &str = "CARGO";
