//! Sessions of scripts that find their tools as coroutine functions and pause on each call; the same in every sandbox.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::{Value, json};
use workbench::sandbox::paused::{Pause, PausedScript, PausingScript};
use workbench::sandbox::{BridgeError, SCRIPT_FILE, Sandbox, ScriptEnd, ScriptLimits, ScriptOutcome, ToolForm};

/// The scripts of one session, each with how many calls each of its pauses has and what it prints.
const SESSION: &[(&str, &[usize], &str)] = &[
    ("import json\nkept = [1]\nprint('first')", &[], "first\n"),
    (
        "async def twice(n):\n    return json.loads(await get_order({'id': n}))['id'] * 2\nkept.append(await twice(4))",
        &[1],
        "",
    ),
    (
        "import asyncio\norders = await asyncio.gather(*[twice(n) for n in range(100)])\nprint(kept, sum(orders))",
        &[100],
        "[1, 8] 9900\n",
    ),
    // One after the other, and two that wait for each other's rest.
    ("for n in range(3):\n    kept.append(await twice(n))\nprint(kept)", &[1, 1, 1], "[1, 8, 0, 2, 4]\n"),
    (
        "async def main():\n    print(await twice(21), await get_order({'refuse': True}))\nasyncio.run(main())",
        &[1, 1],
        "42 Error: no\n",
    ),
    (
        "try:\n    await get_order({'late': True})\nexcept TimeoutError as error:\n    print(type(error), error)",
        &[1],
        "<class 'TimeoutError'> too late\n",
    ),
    // A call that nobody waits for ends with its script, and the next one hears nothing of it.
    ("left = asyncio.create_task(get_order({'id': 7}))\nawait asyncio.sleep(0)\nprint('left')", &[], "left\n"),
    ("print(await twice(5))", &[1], "10\n"),
    // What is to be done at the end of the interpreter is not done at that of a script.
    ("import atexit\natexit.register(print, 'over')\nprint('registered')", &[], "registered\n"),
    // A tool that is there no more is asked of nobody.
    (
        "call = get_order.__globals__['_call']\nprint(await call('get_odor', {}), await twice(3))",
        &[1],
        "ERROR: there is no tool `get_odor` for this script; there are `get_order` 6\n",
    ),
    ("print(repr(await get_order({'id': 1})))\nkept", &[1], "'{\"id\": 1}'\n"),
    (
        "for given, named in [((7,), {}), ((), {}), ((), {'id': 7}), (({}, {}), {})]:\n    \
         try:\n        await get_order(*given, **named)\n    except TypeError as error:\n        print(error)",
        &[],
        "get_order takes one dict with its arguments, such as {\"id\": ...}\n\
         get_order takes one dict with its arguments, such as {\"id\": ...}\n\
         get_order takes one dict with its arguments, such as {\"id\": ...}\n\
         get_order takes one dict with its arguments, such as {\"id\": ...}\n",
    ),
    // As at a provider there is no module of them.
    (
        "for name in ('tools', 'tools.aio'):\n    \
         try:\n        __import__(name)\n    except ModuleNotFoundError as error:\n        print(error.name)",
        &[],
        "tools\ntools\n",
    ),
    ("raise ValueError('mended next time')", &[], ""),
    ("print(len(kept), json.dumps(kept))", &[], "5 [1, 8, 0, 2, 4]\n"),
];

/// How long it is seen that a script waits.
const QUIET: Duration = Duration::from_secs(1);

/// Scripts whose calls are answered one by one, the last one first: the calls of each pause, by their ids, and what is
/// printed.
const ONE_BY_ONE: &[(&str, &[&[&str]], &str)] = &[
    (
        "import asyncio\nasync def chain(name):\n    for step in range(2):\n        await get_order({'id': f'{name}{step}'})\n        \
         print(name, step)\nawait asyncio.gather(*map(chain, 'abcd'))",
        &[&["a0", "b0", "c0", "d0"], &["a1", "b1", "c1", "d1"]],
        "a 0\nb 0\nc 0\nd 0\na 1\nb 1\nc 1\nd 1\n",
    ),
    // The time for which others are waited for is none of the script's.
    ("print(await asyncio.wait_for(get_order({'id': 'a'}), 0.9))", &[&["a"]], "{\"id\": \"a\"}\n"),
];

fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "get_order".into(),
        description: "One order, as JSON text {\"id\": int}.".into(),
        input_schema: json!({"type": "object", "properties": {"id": {"type": "integer"}}}),
    }]
}

fn start(session: &Arc<dyn Sandbox>, source: &str, limits: ScriptLimits) -> PausedScript {
    PausedScript::start(PausingScript {
        source: source.to_owned(),
        file: SCRIPT_FILE.to_owned(),
        tools: tools().into(),
        form: ToolForm::Coroutines,
        domain: "orders".to_owned(),
        sandbox: Arc::clone(session),
        limits,
    })
}

/// Runs a script to its end; tells how many calls each pause had.
pub(crate) async fn cell(
    session: &Arc<dyn Sandbox>,
    source: &str,
    limits: ScriptLimits,
) -> (Vec<usize>, ScriptOutcome) {
    let mut script = start(session, source, limits);
    let mut pauses = Vec::new();
    loop {
        match script.next().await.unwrap() {
            Pause::Ended(outcome) => return (pauses, outcome),
            Pause::Calls(calls) => {
                pauses.push(calls.len());
                for call in calls {
                    let arguments = call.arguments();
                    call.answer(match arguments {
                        _ if arguments["late"] == true => Err(BridgeError::Tool("too late".to_owned())),
                        _ if arguments["refuse"] == true => Ok(text("Error: no")),
                        _ => Ok(text(&format!("{{\"id\": {}}}", arguments["id"]))),
                    });
                }
            }
        }
    }
}

/// A script goes on when all that it waits for is answered, and its clock stands until then: equal conversations have
/// equal turns.
pub(crate) async fn answers_are_waited_for_together(sandbox: Arc<dyn Sandbox>, limits: ScriptLimits) {
    let session = sandbox.session();
    for (source, turns, prints) in ONE_BY_ONE {
        // Shorter than all its waits together.
        let mut script = start(&session, source, ScriptLimits { time: 5 * QUIET, ..limits });
        let mut turns = turns.iter();
        let outcome = loop {
            let mut calls = match script.next().await.unwrap() {
                Pause::Ended(outcome) => break outcome,
                Pause::Calls(calls) => calls,
            };
            let ids: Vec<String> = calls.iter().map(|call| call.arguments()["id"].as_str().unwrap().into()).collect();
            assert_eq!(ids, *turns.next().map_or(&[][..], |ids| ids), "{source}");
            while let Some(call) = calls.pop() {
                assert!(tokio::time::timeout(QUIET, script.next()).await.is_err(), "{source}: it went on before");
                let answer = format!("{{\"id\": {}}}", call.arguments()["id"]);
                call.answer(Ok(text(&answer)));
            }
        };
        let said = format!("{source}: {:?} {}", outcome.end, outcome.stderr.text);
        assert_eq!((outcome.stdout.text.as_str(), turns.next()), (*prints, None), "{said}");
    }
    session.close().await;
}

fn text(text: &str) -> Bytes {
    Value::from(text).to_string().into()
}

/// Every script finds the names of those before it, and prints to itself alone.
pub(crate) async fn names_are_kept(sandbox: Arc<dyn Sandbox>, limits: ScriptLimits) {
    let session = Arc::clone(&sandbox).session();
    for (source, pauses, prints) in SESSION {
        let (paused, outcome) = cell(&session, source, limits).await;
        let said = format!("{source}: {:?} {}", outcome.end, outcome.stderr.text);
        assert_eq!((paused.as_slice(), outcome.stdout.text.as_str()), (*pauses, *prints), "{said}");
        let failed = source.starts_with("raise");
        assert_eq!(outcome.end, ScriptEnd::Exit(i32::from(failed)), "{said}");
        assert_eq!(outcome.stderr.text.contains("ValueError: mended next time"), failed, "{said}");
    }
    let other = sandbox.session();
    let (_, outcome) = cell(&other, "print('kept' in globals())", limits).await;
    assert_eq!(outcome.stdout.text, "False\n", "sessions share nothing: {}", outcome.stderr.text);
    other.close().await;
    session.close().await;
}

/// A script that is ended takes the names with it, and the session goes on.
pub(crate) async fn a_script_that_is_ended_takes_the_names_along(sandbox: Arc<dyn Sandbox>, limits: ScriptLimits) {
    let session = sandbox.session();
    cell(&session, "kept = 1", limits).await;
    let short = ScriptLimits { time: Duration::from_secs(1), ..limits };
    let (_, outcome) = cell(&session, "print('until then', flush=True)\nwhile True: pass", short).await;
    assert_eq!((outcome.end, outcome.stdout.text.as_str()), (ScriptEnd::TimedOut, "until then\n"));
    // A call that nobody awaits stops its clock until it is answered, and no longer.
    let source =
        "import asyncio\nleft = asyncio.create_task(get_order({'id': 1}))\nawait asyncio.sleep(0.1)\nwhile True: pass";
    let longer = ScriptLimits { time: Duration::from_secs(5), ..limits };
    let (paused, outcome) = cell(&session, source, longer).await;
    assert_eq!((outcome.end, paused.as_slice()), (ScriptEnd::TimedOut, &[1][..]));
    let (_, outcome) = cell(&session, "print('kept' in globals())", limits).await;
    assert_eq!((outcome.stdout.text.as_str(), outcome.stderr.text.as_str()), ("False\n", ""));
    session.close().await;
}

/// What a script reads that begins without the names of those before it, where the end of none of them said so.
pub(crate) const BEGAN_ANEW: &str =
    "note: the cell began in a new interpreter, and the names of the cells before it are gone\n";

/// The interpreter of a session ends between two scripts, of which `kill` sees to it, and under a script that nobody waits
/// for any more: the next one is told so, once.
pub(crate) async fn names_that_are_gone_are_told(
    sandbox: Arc<dyn Sandbox>,
    limits: ScriptLimits,
    kill: impl AsyncFnOnce(),
) {
    let session = sandbox.session();
    let tells = async |source: &str, told: &str| {
        let (_, outcome) = cell(&session, source, limits).await;
        assert_eq!((outcome.end, outcome.stderr.text.as_str()), (ScriptEnd::Exit(0), told), "{source}");
    };
    tells("kept = 1", "").await;
    kill().await;
    tells("assert 'kept' not in globals()", BEGAN_ANEW).await;
    tells("kept = 1", "").await;
    let mut script = start(&session, "await get_order({})", limits);
    assert!(matches!(script.next().await.unwrap(), Pause::Calls(_)));
    drop(script);
    tells("import sys; print('mine', file=sys.stderr)", &format!("{BEGAN_ANEW}mine\n")).await;
    tells("kept = 1", "").await;
    session.close().await;
}
