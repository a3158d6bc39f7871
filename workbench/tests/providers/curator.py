"""A model for LiteLLM's proxy: it works on the Met domain as a model would, by a plan, and counts by a rule of its own.

In the modes in which it calls tools it searches, reads three records and ends; in mode code it hands in the scripts of the
rehearsal. Each count goes into the file that the environment names, so that a test can compare.
"""

import json
import os
from pathlib import Path

import litellm
from litellm import CustomLLM

SCRIPTS = Path(__file__).parents[3] / "domains/met/rehearsal/code"
COUNTS = os.environ["CURATOR_COUNTS"]


def turn(messages, tools):
    """What it says: words, and calls as pairs of name and arguments."""
    spoken = sum(message["role"] == "assistant" for message in messages)
    results = [message["content"] for message in messages if message["role"] == "tool"]
    if tools == ["run_python"]:
        if spoken < 2:
            return "", [("run_python", {"code": (SCRIPTS / f"{spoken + 1}.py").read_text()})]
        return "The exhibit is ready.", []
    searches = [("list_departments", {}), ("search_collection", {"query": "cat"})]
    if len(results) < 2:
        return "I search.", searches[len(results):]
    if len(results) < 5:
        found = results[1] if isinstance(results[1], str) else results[1][0]["text"]
        reads = [("get_object", {"object_id": each}) for each in json.loads(found)["object_ids"][:3]]
        return "I read.", reads[len(results) - 2:]
    return "I read three records and made nothing.", []


class Curator(CustomLLM):
    async def acompletion(self, model, messages, model_response, optional_params, **rest):
        tools = [tool["function"]["name"] for tool in optional_params.get("tools") or []]
        words, calls = turn(messages, tools)
        if optional_params.get("parallel_tool_calls") is False:
            calls = calls[:1]
        read = len(json.dumps([messages, tools], default=str)) // 4
        written = len(json.dumps([words, calls])) // 4 + 1
        with open(COUNTS, "a") as counts:
            print(read, written, file=counts)
        message = {"role": "assistant", "content": words or None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{len(messages)}_{place}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for place, (name, arguments) in enumerate(calls)
            ]
        return litellm.ModelResponse(
            model=model,
            choices=[{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
            usage={"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        )


curator = Curator()
