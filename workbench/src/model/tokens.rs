//! Counts tokens on this machine, for models that do not report them.
//!
//! The counts are estimates: every provider has a tokenizer of its own. They are marked so wherever
//! they are shown.

use tiktoken_rs::o200k_base_singleton;

use super::types::{Block, Message, ModelRequest, ToolDefinition};

/// Tokens that stand around the words of every message: its role and its two ends.
const MESSAGE_FRAME: u64 = 4;
/// Tokens that stand around a tool, a call or a result: its identifier and the keys of its parts.
const PART_FRAME: u64 = 8;
/// Longest text given to the tokenizer at once. Its pattern gives up on endless white space, and a
/// cut costs one token at most.
const PIECE_BYTES: usize = 64 * 1024;

/// Reads the vocabulary on a thread of its own, which takes longer than a run has to wait for its first count.
pub fn prepare() {
    // Where there is no thread to be had, the first count reads it.
    _ = std::thread::Builder::new().spawn(o200k_base_singleton);
}

/// Tokens of a text.
pub fn count(text: &str) -> u64 {
    let mut rest = text;
    let mut tokens = 0;
    while !rest.is_empty() {
        let (piece, later) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        tokens += o200k_base_singleton().count_ordinary(piece) as u64;
        rest = later;
    }
    tokens
}

/// Tokens of the parts of a message, without its frame.
pub fn count_blocks(blocks: &[Block]) -> u64 {
    blocks.iter().map(count_block).sum()
}

fn count_block(block: &Block) -> u64 {
    match block {
        Block::Text { text } => count(text),
        Block::ToolUse { name, input, .. } => PART_FRAME + count(name) + count(&input.to_string()),
        Block::ToolResult { content, .. } => PART_FRAME + count(content),
        Block::Other(value) => count(&value.to_string()),
    }
}

fn count_message(message: &Message) -> u64 {
    MESSAGE_FRAME + count_blocks(&message.content)
}

/// Tokens of the definitions of tools.
pub fn count_tools(tools: &[ToolDefinition]) -> u64 {
    tools.iter().map(count_tool).sum()
}

fn count_tool(tool: &ToolDefinition) -> u64 {
    PART_FRAME + count(&tool.name) + count(&tool.description) + count(&tool.input_schema.to_string())
}

/// Counts the requests of one conversation. A conversation only grows, so each message is counted
/// once: the cost of a request grows with what is new in it.
#[derive(Debug, Default)]
pub struct ConversationCount {
    /// Tokens of the system text and the tools, once known.
    fixed: Option<u64>,
    /// Messages counted so far.
    messages: usize,
    /// Their tokens.
    said: u64,
}

impl ConversationCount {
    /// Tokens the model reads with this request. It must continue the one before.
    pub fn read(&mut self, request: &ModelRequest<'_>) -> u64 {
        let fixed =
            *self.fixed.get_or_insert_with(|| MESSAGE_FRAME + count(request.system) + count_tools(request.tools));
        let new = request.messages.get(self.messages..).unwrap_or_default();
        self.said += new.iter().map(count_message).sum::<u64>();
        self.messages = request.messages.len();
        fixed + self.said
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::types::{Callers, Role};

    fn conversation() -> Vec<Message> {
        let text = |text: &str| Block::Text { text: text.to_owned() };
        let call = Block::ToolUse {
            id: "1".to_owned(),
            name: "get_object".to_owned(),
            input: json!({"object_id": 7}),
            caller: None,
        };
        let result = |content: &str| Block::ToolResult {
            tool_use_id: "1".to_owned(),
            content: content.to_owned(),
            is_error: false,
        };
        vec![
            Message { role: Role::User, content: vec![text("Find twelve cats.")] },
            Message { role: Role::Assistant, content: vec![text("I look."), call] },
            Message { role: Role::User, content: vec![result(&"{\"title\":\"Katze\"}".repeat(500))] },
        ]
    }

    #[test]
    fn growing_counts_equal_a_count_of_the_whole() {
        let messages = conversation();
        let tools = [ToolDefinition {
            name: "get_object".to_owned(),
            description: "One object.".to_owned(),
            input_schema: json!({"type": "object"}),
            callers: Callers::Direct,
        }];
        let request = |messages| ModelRequest {
            system: "You are a curator.",
            tools: &tools,
            messages,
            max_tokens: 100,
            parallel_calls: true,
            until: None,
        };
        let mut growing = ConversationCount::default();
        let mut counts = Vec::new();
        for length in 1..=messages.len() {
            let grown = growing.read(&request(&messages[..length]));
            assert_eq!(grown, ConversationCount::default().read(&request(&messages[..length])));
            counts.push(grown);
        }
        assert!(counts.is_sorted() && counts[2] > counts[1] + 2000, "{counts:?}");
    }

    #[test]
    fn words_of_the_published_vocabulary() {
        assert_eq!(count("hello world"), 2);
        assert_eq!(count(""), 0);
        assert_eq!(count("<|endoftext|>"), 7, "text that looks like a control token is only text");
    }

    #[test]
    fn texts_no_tokenizer_likes_are_counted() {
        for text in [" ".repeat(3_000_000), "a".repeat(1_000_000), "\n\t".repeat(500_000), "猫".repeat(100_000)] {
            assert!(count(&text) > 1000);
        }
    }
}
