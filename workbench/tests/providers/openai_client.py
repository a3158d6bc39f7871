"""A conversation with one tool, held by OpenAI's own client: `openai_client.py BASE_URL KEY`. Prints the tokens it was told."""

import sys

from openai import OpenAI
from openai.types.chat import ChatCompletion

client = OpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2], max_retries=0)
TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers.",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
    },
}

assert any(model.id == "test-model" for model in client.models.list())
messages = [{"role": "system", "content": "You add."}, {"role": "user", "content": "What are 1 and 2, and 3 and 4?"}]
while True:
    answer = client.chat.completions.create(model="test-model", messages=messages, tools=[TOOL], max_tokens=100)
    # The client builds its objects without a look; this takes one.
    ChatCompletion.model_validate(answer.to_dict())
    choice = answer.choices[0]
    print(answer.usage.prompt_tokens, answer.usage.completion_tokens)
    calls = choice.message.tool_calls or []
    assert choice.finish_reason == ("tool_calls" if calls else "stop"), choice
    if not calls:
        break
    said = [{"id": call.id, "type": call.type, "function": call.function.to_dict()} for call in calls]
    messages.append({"role": "assistant", "content": choice.message.content or None, "tool_calls": said})
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "3"} for call in calls]
assert choice.message.content == "They are 3 and 7.", choice
