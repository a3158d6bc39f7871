//! One tool call through host and worker.

use bytes::Bytes;

use crate::native::{self, Native};
use crate::rounds::{alternate, each};
use crate::stage::{self, LARGE, SMALL, Stage};
use crate::table::Table;

pub(crate) fn measure(stage: &Stage, table: &mut Table) {
    let mut tool = Native::start(native::TOOL);
    let small = Bytes::from(stage::record(SMALL.0, SMALL.1));
    let arguments = stage::arguments(SMALL.0);
    assert_eq!(stage.runtime.block_on(stage.call(SMALL.0)), small);
    assert_eq!(tool.call(&arguments, &small), small);
    let pair = alternate(
        31,
        || ours(stage, SMALL.0, 200),
        || each(200, || (0..200).for_each(|_| _ = tool.call(&arguments, &small))),
    );
    table.against("a tool call that fetches a cached 2 KB record ÷ the least that does the same", &pair, Some(3.0));

    let mut echo = Native::start(native::ECHO);
    let large = Bytes::from(stage::record(LARGE.0, LARGE.1));
    assert_eq!(stage.runtime.block_on(stage.call(LARGE.0)), large);
    assert_eq!(echo.echo(&large), large);
    let pair = alternate(31, || ours(stage, LARGE.0, 20), || each(20, || (0..20).for_each(|_| _ = echo.echo(&large))));
    table.against("a tool call that fetches a cached 665 KB record ÷ an echo of the record", &pair, Some(1.5));
}

fn ours(stage: &Stage, record: u64, calls: u32) -> std::time::Duration {
    each(calls, || {
        stage.runtime.block_on(async {
            for _ in 0..calls {
                stage.call(record).await;
            }
        });
    })
}
