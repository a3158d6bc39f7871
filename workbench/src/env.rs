//! Every environment variable the program reads or sets, with its meaning.

/// Set by the host on its own children; the hidden worker subcommands refuse to start without it.
pub const WORKER_GUARD: &str = "WORKBENCH_WORKER_GUARD";

/// Settings of glibc's allocator, set by the host for its workers; other systems know none of that name.
pub const ALLOCATOR: &str = "GLIBC_TUNABLES";

/// Routes as `HOST=URL`, several joined with commas; `--route` adds to them, and wins for a host that both name.
pub const ROUTES: &str = "WORKBENCH_ROUTES";

/// Where the results go, instead of `results/` of the workspace or of the current folder.
pub const RESULTS: &str = "WORKBENCH_RESULTS";

/// Which `cargo` builds plugins; cargo sets it for the programs it runs.
pub const CARGO: &str = "CARGO";

/// Where requests over http go through a proxy: the first that is set. The HTTP client reads them, and `NO_PROXY`.
pub const HTTP_PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// As [`HTTP_PROXIES`], for requests over https.
pub const HTTPS_PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
