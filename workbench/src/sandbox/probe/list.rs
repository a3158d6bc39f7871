//! The probes, in the order in which they are shown. A new one is a file in `scripts/` and a line here.
//!
//! Each file begins with lines `# key: value`: `probe` says what it tries, and `expected`, `docker`, `docker none`,
//! `docker open` or `embedded` what has to come of it there; without a line for a sandbox it is not tried in it, and
//! `not stopped` says that it would succeed. `seconds`, `memory_mb` and `calls` set its limits. `needs: url` keeps it for
//! those who name an address, and with `look at: kept files` what counts is what the host kept, not what was printed.
//!
//! No script does harm where nothing stops it: each takes a bounded amount, and none sends anything to anybody but the
//! address that was named and a port of this program's own.

use super::script::Probe;

macro_rules! probes {
    ($($name:literal)*) => {
        [$(Probe { name: $name, source: include_str!(concat!("scripts/", $name, ".py")) }),*]
    };
}

/// All of them.
pub(super) const PROBES: [Probe; 37] = probes! {
    "tools_answer"
    "unnamed_tool"
    "nested_calls"
    "long_argument"
    "public_api"
    "route_out"
    "gateway"
    "cloud_metadata"
    "host_loopback"
    "raw_socket"
    "files"
    "file_in_traceback"
    "root_file_system"
    "out_folder"
    "out_links"
    "home"
    "environment"
    "environment_of_process_1"
    "user"
    "rights"
    "setuid"
    "mount"
    "other_processes"
    "process_1"
    "programs"
    "native_code"
    "fork_bomb"
    "memory_bomb"
    "shared_memory_bomb"
    "output_bomb"
    "disk_bomb_tmp"
    "disk_bomb_out"
    "endless_loop"
    "runs_on"
    "forged_output"
    "forged_call"
    "long_frame"
};
