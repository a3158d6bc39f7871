//! Scripts in the embedded sandbox.

use std::thread;
use std::time::{Duration, Instant};

use workbench::runner::Caller;
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings};
use workbench::sandbox::{Sandbox as _, ToolForm};

use crate::rounds::{alternate, repeat};
use crate::scripting::{first_line, run};
use crate::stage::{SMALL, Stage, TOOL, program};
use crate::table::Table;

/// Longer than a booted child takes to import ahead, and shorter than any model thinks.
const PAUSE: Duration = Duration::from_millis(300);

pub(crate) fn measure(stage: &Stage, table: &mut Table) {
    let sandbox = new_sandbox();
    let (record, _) = SMALL;
    let line = format!("from tools import *; {TOOL}({record})");
    let warm = repeat(31, || {
        wait_for_child(stage, &sandbox);
        first_line(stage, &sandbox, &line)
    });
    table.alone("a script up to its first line, in a child that waited for it", warm, Some(Duration::from_millis(5)));
    let cold = repeat(31, || first_line(stage, &new_sandbox(), &line));
    table.alone("the same in a child that is started for it", cold, Some(Duration::from_millis(80)));
    let whole = repeat(31, || took(stage, &sandbox, "print('one line')"));
    table.alone("a script of one line up to the end of its process, in a child that waited for it", whole, None);

    let gathered = format!(
        "import asyncio\nfrom tools.aio import *\n\
         async def main():\n    await asyncio.gather(*({TOOL}({record}) for _ in range(1000)))\nasyncio.run(main())\n"
    );
    let gathered = repeat(7, || took(stage, &sandbox, &gathered));
    table.alone("a script that gathers 1,000 calls", gathered, Some(Duration::from_millis(500)));

    let sequence = |calls: u32| format!("from tools import *\nfor _ in range({calls}):\n    {TOOL}({record})\n");
    let (many, few) = (sequence(10_000), sequence(1000));
    let pair = alternate(5, || took(stage, &sandbox, &many) / 10_000, || took(stage, &sandbox, &few) / 1000);
    table.against("a call of a script, one after the other: of 10,000 ÷ of 1,000", &pair, Some(1.2));
}

fn new_sandbox() -> Embedded {
    Embedded::new(EmbeddedSettings { program: Some(program()) })
}

/// Has a child ready, with what it imports ahead.
fn wait_for_child(stage: &Stage, sandbox: &Embedded) {
    stage.runtime.block_on(sandbox.prepare());
    thread::sleep(PAUSE);
}

/// How long a script takes for which a child waits.
fn took(stage: &Stage, sandbox: &Embedded, source: &str) -> Duration {
    wait_for_child(stage, sandbox);
    let begun = Instant::now();
    run(stage, sandbox, source, &stage.toolbox.bridge(Caller { turn: 1, script: Some(1) }, ToolForm::Functions));
    begun.elapsed()
}
