//! Any bytes in the place of frames: they are frames, or an error, in both ways of reading, and what was read is
//! written again as it was meant.
#![no_main]

use modules::frames::{self, Frame, MAX_BODY};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Head {
    Call { id: u64, tool: String },
    Answer { id: u64 },
    Log { text: String, level: Option<u8> },
    End,
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (mut stream, mut same_stream) = (bytes, bytes);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    loop {
        let frame = frames::read::<Head>(&mut stream);
        let same = runtime.block_on(frames::read_async::<Head>(&mut same_stream));
        match (frame, same) {
            (Ok(Some(frame)), Ok(Some(same))) => {
                assert_eq!(frame, same);
                assert!(frame.body.len() as u64 <= MAX_BODY);
                written_and_read(&frame);
            }
            (Ok(None), Ok(None)) | (Err(_), Err(_)) => return,
            (frame, same) => panic!("{frame:?} in one way, {same:?} in the other"),
        }
    }
});

fn written_and_read(frame: &Frame<Head>) {
    let mut written = Vec::new();
    frames::write(&mut written, frame).unwrap();
    let mut stream = written.as_slice();
    assert_eq!(frames::read(&mut stream).unwrap().as_ref(), Some(frame));
    assert!(stream.is_empty());
}
