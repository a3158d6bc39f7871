"""A conversation with one tool, held by Anthropic's own client: `anthropic_client.py BASE_URL KEY`. Prints the tokens it
was told."""

import sys

from anthropic import Anthropic
from anthropic.types import Message

MODEL = "claude-haiku-5-5"
client = Anthropic(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
TOOL = {
    "name": "add",
    "description": "Adds two numbers.",
    "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
}

assert client.models.retrieve(MODEL).id == MODEL
messages = [{"role": "user", "content": [{"type": "text", "text": "What are 1 and 2, and 3 and 4?"}]}]
while True:
    settings = {"model": MODEL, "system": "You add.", "messages": messages, "tools": [TOOL]}
    assert client.messages.count_tokens(**settings).input_tokens > 0
    answer = client.messages.create(max_tokens=100, **settings)
    # The client builds its objects without a look; this takes one.
    Message.model_validate(answer.to_dict())
    usage = answer.usage
    print(usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens, usage.output_tokens)
    calls = [block for block in answer.content if block.type == "tool_use"]
    assert answer.stop_reason == ("tool_use" if calls else "end_turn"), answer
    if not calls:
        break
    messages.append({"role": "assistant", "content": [block.to_dict() for block in answer.content]})
    messages.append(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "3"} for call in calls]}
    )
assert answer.content[-1].text == "They are 3 and 7.", answer
