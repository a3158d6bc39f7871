//! Scripts in the embedded sandbox.

use std::thread;
use std::time::{Duration, Instant};

use workbench::runner::{Caller, script_limits};
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings};
use workbench::sandbox::{Sandbox as _, Script};

use crate::rounds::{alternate, repeat};
use crate::stage::{SMALL, Stage, TOOL, program};
use crate::table::Table;

/// Longer than a booted child takes to import ahead, and shorter than any model thinks.
const PAUSE: Duration = Duration::from_millis(300);

pub(crate) fn measure(stage: &Stage, table: &mut Table) {
    let sandbox = new_sandbox();
    let line = "print('one line')";
    let warm = repeat(15, || took(stage, &sandbox, line));
    table.alone("a script of one line, start to end, in a child that waited for it", warm, Duration::from_millis(5));

    let cold = repeat(15, || {
        let sandbox = new_sandbox();
        let begun = Instant::now();
        run(stage, &sandbox, line);
        begun.elapsed()
    });
    table.alone("the same in a child that is started for it", cold, Duration::from_millis(80));

    let (record, _) = SMALL;
    let gathered = format!(
        "import asyncio\nfrom tools.aio import *\n\
         async def main():\n    await asyncio.gather(*({TOOL}({record}) for _ in range(1000)))\nasyncio.run(main())\n"
    );
    let gathered = repeat(7, || took(stage, &sandbox, &gathered));
    table.alone("a script that gathers 1,000 calls", gathered, Duration::from_millis(500));

    let sequence = |calls: u32| format!("from tools import *\nfor _ in range({calls}):\n    {TOOL}({record})\n");
    let (many, few) = (sequence(10_000), sequence(1000));
    let pair = alternate(5, || took(stage, &sandbox, &many) / 10_000, || took(stage, &sandbox, &few) / 1000);
    table.against("a call of a script, one after the other: of 10,000 ÷ of 1,000", &pair, Some(1.2));
}

fn new_sandbox() -> Embedded {
    Embedded::new(EmbeddedSettings { program: Some(program()) })
}

/// How long a script takes for which a child waits.
fn took(stage: &Stage, sandbox: &Embedded, source: &str) -> Duration {
    stage.runtime.block_on(sandbox.prepare());
    thread::sleep(PAUSE);
    let begun = Instant::now();
    run(stage, sandbox, source);
    begun.elapsed()
}

fn run(stage: &Stage, sandbox: &Embedded, source: &str) {
    let script = Script {
        source,
        tools: stage.toolbox.tools(),
        domain: stage.domain.name(),
        announce_waiting: false,
        limits: script_limits(&stage.domain.manifest.limits),
    };
    let bridge = stage.toolbox.bridge(Caller { turn: 1, script: Some(1) });
    let outcome = stage.runtime.block_on(sandbox.run(&script, &bridge)).unwrap();
    assert!(outcome.end.is_success(), "{outcome:?}");
}
