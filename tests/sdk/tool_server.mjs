// SPDX-License-Identifier: Apache-2.0
// A tool server of the MCP SDK over its standard streams, with one tool: it fetches.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "fetcher", version: "1.0.0" });
server.registerTool(
  "fetch",
  { description: "Fetches a page", inputSchema: { url: z.string() } },
  async ({ url }) => {
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(8000) });
      return { content: [{ type: "text", text: await answer.text() }] };
    } catch (error) {
      return { content: [{ type: "text", text: String(error.cause ?? error) }], isError: true };
    }
  },
);
await server.connect(new StdioServerTransport());
