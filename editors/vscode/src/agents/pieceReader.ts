/**
 * Reads the terminal of an agent piece by piece. Each piece is the answer to a request, so the server never sends more than
 * this editor has taken: an agent that prints without end cannot delay completions. No VS Code here.
 */

import type { Attached, Piece } from "./agentProtocol";

export interface Source {
  attach(columns: number, rows: number): Promise<Attached>;
  read(viewerId: string): Promise<Piece>;
  detach(viewerId: string): Promise<unknown>;
}

export class PieceReader {
  private viewerId: string | undefined;
  private isClosed = false;
  /** A character may be in two pieces. */
  private readonly decoder = new TextDecoder();

  constructor(private readonly source: Source) {}

  /** Show the screen as it is, and then what is printed, until the agent ends or this is closed. Return why it ended. */
  async run(columns: number, rows: number, show: (text: string) => void): Promise<string> {
    const { viewerId } = await this.source.attach(columns, rows);
    if (this.isClosed) {
      await this.source.detach(viewerId);
      return "";
    }
    this.viewerId = viewerId;
    for (;;) {
      const piece = await this.source.read(viewerId);
      if (this.isClosed) {
        return "";
      }
      const text = this.decoder.decode(Buffer.from(piece.data, "base64"), { stream: true });
      if (text) {
        show(text);
      }
      if (piece.isEnd) {
        this.viewerId = undefined;
        return piece.reason;
      }
    }
  }

  /** Stop reading. The agent goes on. */
  close(): void {
    this.isClosed = true;
    if (this.viewerId !== undefined) {
      // the server may have ended
      this.source.detach(this.viewerId).catch(() => undefined);
      this.viewerId = undefined;
    }
  }
}
