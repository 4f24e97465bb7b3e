# SPDX-License-Identifier: Apache-2.0
"""Run what an agent wrote under a policy, and look at what became of it: `review_agent_output.py`. CORDON_NODE and CORDON_TOKEN say where and as
whom. Needs the package: `pip install ./sdk/python`."""
import cordon

AGENT_WROTE = """
echo the answer is 42
echo 42 > /workspace/answer
"""
POLICY = {
    "filesystem": {"mode": "read_only"},
    "network": {"mode": "none"},
    "resources": {"memory_limit": "64Mi", "disk_limit": "8Mi", "pids_limit": 32},
}


def main() -> None:
    with cordon.Client() as node:
        run = node.run(["sh", "-c", AGENT_WROTE], policy=POLICY, timeout_seconds=10, labels={"job": "review"})
        print("it said:    ", run.text.strip())
        print("it ended by:", run.verdict.ending, run.verdict.status, f"after {run.usage.wall_milliseconds} ms")
        for fence in ("seccomp", "landlock", "network", "memory"):
            print(f"{fence + ':':12}", run.enforcement.hold(fence))
        for denial in run.denials:
            print("refused:    ", denial.tried, "-", denial.why)
            print("  rule:     ", denial.rule, "- to allow it:", denial.fix)
        for record in node.audit(where=f"sandbox={run.id}", follow=False):
            print(f"audit {record.seq:5}:", record.event)

        # The same with a policy that lets it.
        again = node.run(["sh", "-c", AGENT_WROTE], policy={**POLICY, "filesystem": {"mode": "read_write"}})
        print("allowed:    ", again.verdict.ending, again.verdict.status, f"with {len(again.denials)} denials")


main()
