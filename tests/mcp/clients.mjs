// SPDX-License-Identifier: Apache-2.0
// One client, of either SDK: `clients.mjs v1|v2|v2-legacy SCRIPT -- COMMAND...`. SCRIPT is a JSON list of [tool, arguments], or ["list"]; what comes
// of each is one line of JSON. What the client is asked it answers with what CLIENT_SAYS has: the content of an accepted form.
const [which, script, , ...command] = process.argv.slice(2);
const says = process.env.CLIENT_SAYS ? JSON.parse(process.env.CLIENT_SAYS) : undefined;
const capabilities = says ? { elicitation: { form: {} } } : {};
const env = { ...process.env };
delete env.CLIENT_SAYS;
const how = { command: command[0], args: command.slice(1), env, stderr: "inherit" };
const asked = [];
const answer = async (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: says };
};

let client;
if (which === "v1") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client = new Client({ name: "c", version: "1" }, { capabilities });
  if (says) client.setRequestHandler(ElicitRequestSchema, answer);
  await client.connect(new StdioClientTransport(how));
} else {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  client = new Client({ name: "c", version: "1" }, { capabilities, ...(which === "v2" ? { versionNegotiation: { mode: "auto" } } : {}) });
  if (says) client.setRequestHandler("elicitation/create", answer);
  await client.connect(new StdioClientTransport(how));
}
const version = client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion ?? null;
console.log(JSON.stringify({ version, server: client.getServerVersion()?.name ?? null }));
for (const [tool, args] of JSON.parse(script)) {
  let result;
  try {
    result = tool === "list" ? (await client.listTools()).tools.map((each) => each.name) : await client.callTool({ name: tool, arguments: args });
  } catch (error) {
    result = { error: String(error) };
  }
  console.log(JSON.stringify({ result, asked: asked.splice(0) }));
}
await client.close();
