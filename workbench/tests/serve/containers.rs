//! How long containers live: while somebody may come back to them, and no longer.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::served::{Answer, KEYS, Served, next, question};

/// A cell that computes for so many seconds before it calls.
fn calls_after(seconds: u32) -> String {
    format!("import time\ntime.sleep({seconds})\nprint(await get_order({{}}))")
}

fn container(answer: &Answer) -> &str {
    answer.body["container"]["id"].as_str().unwrap()
}

#[tokio::test]
async fn a_cell_waits_for_as_long_as_it_may_whatever_waited_before_it() {
    let cells = [calls_after(0), calls_after(6)];
    let served = Served::start(&json!([{ "code": cells }]), &["--pending-seconds", "10"]);
    let first = served.post(&question()).await;
    let over = tokio::time::Instant::now() + Duration::from_secs(11);
    let resumed = next(&question(), &first, &json!("one"));
    let second = served.post(&resumed).await;
    assert_eq!((second.results().len(), second.blocks("tool_use").count()), (1, 1), "{second:?}");
    // The time of the first one's call is over, had it not been answered; that of the second has begun later.
    tokio::time::sleep_until(over).await;
    let done = served.post(&next(&resumed, &second, &json!("two"))).await;
    assert_eq!(done.results()[0]["stdout"], "two\n", "{done:?}");
}

#[tokio::test]
async fn a_container_is_used_while_a_request_has_it_and_while_a_cell_waits_in_it() {
    let turns = json!([{ "code": ["import time\ntime.sleep(7)"] }, { "text": "Done." }]);
    let served = Served::start(&turns, &["--idle-seconds", "5"]);
    let answer = served.post(&question()).await;
    let again = served.post(&next(&question(), &answer, &json!(""))).await;
    assert_eq!((again.status, container(&again)), (200, container(&answer)), "{again:?}");

    let turns = json!([{ "code": [calls_after(0)] }, { "text": "Done." }]);
    let served = Served::start(&turns, &["--idle-seconds", "5", "--pending-seconds", "8"]);
    let answer = served.post(&question()).await;
    sleep(Duration::from_secs(9)).await;
    let late = served.post(&next(&question(), &answer, &json!("late"))).await;
    assert_eq!(late.status, 200, "{late:?}");
    let told = "TimeoutError: Calling tool ['get_order'] timed out (no response after 8s).";
    assert_eq!(late.results()[0]["stderr"], told);
    served.tells(&format!("{} is gone: nobody used it any more", container(&answer))).await;
}

#[tokio::test]
async fn a_container_that_no_answer_named_is_gone() {
    let served = Served::start(&json!([{ "code": ["while True: pass"] }]), &["--containers", "1"]);
    let asked = question();
    let mut going = Box::pin(served.post(&asked));
    tokio::select! {
        answer = &mut going => panic!("the cell never ends: {answer:?}"),
        () = crate::patience::until("its interpreter is there", || served.workers().len() == 1) => {}
    }
    drop(going);
    served.tells(" is gone: the request that made it brought no answer").await;
    served.workers_when(0);
}

#[tokio::test]
async fn where_there_is_no_room_a_keys_own_idle_container_makes_it() {
    let code = "if 'get_order' in globals(): await get_order({})";
    let served = Served::start(&json!([{ "code": [code] }, { "text": "Done." }]), &["--containers", "2"]);
    let mut at_once = question();
    at_once["tools"][1]["allowed_callers"] = json!(["direct"]);
    let waiting = served.post(&question()).await;
    let idle = served.post(&at_once).await;
    // Another key has none of its own, and no say over others.
    let others = served.post_as(KEYS[1], &at_once).await;
    assert_eq!(
        (others.status, others.message()),
        (529, "Overloaded: as many containers are in use as this server may have at once")
    );
    let newer = served.post(&at_once).await;
    assert_eq!(newer.status, 200, "{newer:?}");
    let gone = served.post(&next(&at_once, &idle, &json!(""))).await;
    assert_eq!((gone.status, gone.message()), (404, &*format!("Container not found: {}", container(&idle))));
    served.tells(&format!("{} is gone: it was idle, and a new one needed its place", container(&idle))).await;
    for (asked, answer) in [(question(), &waiting), (at_once, &newer)] {
        let after = served.post(&next(&asked, answer, &json!("1"))).await;
        assert_eq!((after.status, container(&after)), (200, container(answer)), "{after:?}");
    }
}

#[tokio::test]
async fn no_container_is_older_than_it_may_be_however_much_it_is_used() {
    let turns = json!([{ "code": ["kept = 1"] }, { "text": "Done." }]);
    let served = Served::start(&turns, &["--age-seconds", "4"]);
    let answer = served.post(&question()).await;
    let asked = next(&question(), &answer, &json!(""));
    let mut again = served.post(&asked).await;
    assert_eq!(again.status, 200, "{again:?}");
    while again.status == 200 {
        sleep(Duration::from_millis(100)).await;
        again = served.post(&asked).await;
    }
    let id = container(&answer);
    assert_eq!((again.status, again.message()), (404, &*format!("Container not found: {id}")));
    served.tells(&format!("{id} is gone: no container lives longer")).await;
}
