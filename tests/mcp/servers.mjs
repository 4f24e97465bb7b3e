// SPDX-License-Identifier: Apache-2.0
// One server, of either SDK: `servers.mjs v1|v2`. Its tools: `add`, `note` and, of v2, `confirm`, which asks its client.
const era = process.argv[2];
const { z } = await import("zod");

function fill(server, wrap) {
  server.registerTool("add", { description: "Adds", inputSchema: wrap({ a: z.number(), b: z.number() }) },
    async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
  server.registerTool("note", { description: "Notes", inputSchema: wrap({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: "text", text: `noted ${text}` }] }));
}

if (era === "v1") {
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  const server = new McpServer({ name: "one", version: "1.0.0" });
  fill(server, (shape) => shape);
  await server.connect(new StdioServerTransport());
} else {
  const { McpServer, inputRequired, acceptedContent } = await import("@modelcontextprotocol/server");
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  serveStdio(() => {
    const server = new McpServer({ name: "two", version: "1.0.0" });
    fill(server, (shape) => z.object(shape));
    server.registerTool("confirm", { description: "Asks", inputSchema: z.object({}) }, async (_, context) => {
      const schema = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] };
      const answer = acceptedContent(context.mcpReq.inputResponses, "sure");
      if (answer) return { content: [{ type: "text", text: `sure ${answer.sure}` }] };
      return inputRequired({ inputRequests: { sure: inputRequired.elicit({ message: "Sure?", requestedSchema: schema }) } });
    });
    return server;
  });
}
