//! What holds of all frames and of all cassettes, tried with made-up ones.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use workbench::frames::{self, Frame, MAX_BODY};
use workbench::web::{Address, Cassette, CassetteWriter, Origin, RawAnswer};

/// Heads of every shape that ours have: numbers, texts, choices, what may be left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Head {
    Call { id: u64, tool: String },
    Answer { id: u64, seconds: Option<u32> },
    Log { text: String, lines: Vec<String> },
    End,
}

fn head() -> impl Strategy<Value = Head> {
    prop_oneof![
        (any::<u64>(), any::<String>()).prop_map(|(id, tool)| Head::Call { id, tool }),
        (any::<u64>(), option::of(any::<u32>())).prop_map(|(id, seconds)| Head::Answer { id, seconds }),
        (any::<String>(), vec(any::<String>(), 0..4)).prop_map(|(text, lines)| Head::Log { text, lines }),
        Just(Head::End),
    ]
}

fn frame() -> impl Strategy<Value = Frame<Head>> {
    (head(), vec(any::<u8>(), 0..300)).prop_map(|(head, body)| Frame::new(head, body))
}

/// All frames of a stream in the way of threads and in that of tokio, and whether it ended well.
fn all(bytes: &[u8]) -> (Vec<Frame<Head>>, bool) {
    let (mut stream, mut same_stream) = (bytes, bytes);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut read = Vec::new();
    loop {
        let frame = frames::read::<Head>(&mut stream);
        let same = runtime.block_on(frames::read_async::<Head>(&mut same_stream));
        match (frame, same) {
            (Ok(Some(frame)), Ok(Some(same))) => {
                assert_eq!(frame, same);
                read.push(frame);
            }
            (Ok(None), Ok(None)) => return (read, true),
            (Err(error), Err(same)) => {
                assert_eq!(error.kind(), same.kind());
                return (read, false);
            }
            (frame, same) => panic!("{frame:?} in one way, {same:?} in the other"),
        }
    }
}

fn written(frames: &[Frame<Head>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for frame in frames {
        frames::write(&mut bytes, frame).unwrap();
    }
    bytes
}

proptest! {
    // A failure prints its smallest case, which then becomes a test: no file of seeds is kept.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_are_read_as_they_were_written(frames in vec(frame(), 0..5)) {
        let bytes = written(&frames);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut same = Vec::new();
        for frame in &frames {
            runtime.block_on(frames::write_async(&mut same, frame)).unwrap();
        }
        prop_assert_eq!(&bytes, &same);
        prop_assert_eq!(all(&bytes), (frames, true));
    }

    #[test]
    fn a_stream_that_is_cut_gives_the_whole_frames_before_the_cut(frames in vec(frame(), 1..5), cut in any::<proptest::sample::Index>()) {
        let bytes = written(&frames);
        let cut = cut.index(bytes.len());
        let (read, ended_well) = all(&bytes[..cut]);
        prop_assert_eq!(&read[..], &frames[..read.len()]);
        prop_assert_eq!(ended_well, written(&read).len() == cut);
    }

    #[test]
    fn any_bytes_are_frames_or_an_error(bytes in vec(any::<u8>(), 0..300)) {
        all(&bytes);
    }

    #[test]
    fn frames_with_a_byte_changed_are_frames_or_an_error(frames in vec(frame(), 1..4), at in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = written(&frames);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        all(&bytes);
    }

    /// What a head claims is not believed beyond the limit.
    #[test]
    fn a_body_beyond_the_limit_is_refused(length in MAX_BODY + 1..) {
        let head = format!("{{\"kind\":\"end\",\"len\":{length}}}\n");
        let error = frames::read::<Head>(&mut head.as_bytes()).unwrap_err().to_string();
        prop_assert!(error.contains("over the limit"), "{}", error);
    }
}

fn answer() -> impl Strategy<Value = RawAnswer> {
    let text = || vec(any::<char>(), 0..12).prop_map(String::from_iter);
    let address = ("[a-z]{1,8}(\\.[a-z]{1,5}){0,2}", option::of(1..u16::MAX), text(), vec((text(), text()), 0..4));
    (address, prop_oneof![Just(200), Just(404), Just(410), any::<u16>()], text(), vec(any::<u8>(), 0..200)).prop_map(
        |((host, port, path, query), status, content_type, body)| {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            let mut url = url::Url::parse(&format!("https://{host}{port}")).unwrap();
            url.set_path(&path);
            url.query_pairs_mut().extend_pairs(query);
            let url = Address::parse(url.as_str()).unwrap().key().to_owned();
            RawAnswer { url, status, content_type, body: Bytes::from(body), origin: Origin::Network }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Recorded in one go or in two, the last answer of an address is what is replayed, byte for byte.
    #[test]
    fn what_is_recorded_is_replayed(answers in vec(answer(), 1..8), first in 0_usize..8) {
        let folder = tempfile::tempdir().unwrap();
        let (before, after) = answers.split_at(first.min(answers.len()));
        for part in [before, after] {
            let mut writer = CassetteWriter::open(folder.path()).unwrap();
            for answer in part {
                writer.add(answer).unwrap();
            }
            writer.save().unwrap();
            writer.prune().unwrap();
        }
        let cassette = Cassette::open(folder.path()).unwrap();
        let mut replayed = 0;
        for (index, answer) in answers.iter().enumerate() {
            if answers[index + 1..].iter().any(|later| later.url == answer.url) {
                continue;
            }
            let recording = cassette.find(&answer.url).expect("an address that was recorded");
            prop_assert_eq!(recording.line.status, answer.status);
            prop_assert_eq!(&recording.line.content_type, &answer.content_type);
            prop_assert_eq!(&recording.body(1_000).unwrap(), &answer.body);
            replayed += 1;
        }
        prop_assert_eq!(cassette.entries().count(), replayed);
    }
}
