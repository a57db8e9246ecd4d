package dev.ashlar.storage.server;

import dev.ashlar.protocol.wire.WireFormatException;
import java.util.ArrayList;
import java.util.List;

/** The requests that one connection has under way per drive, reads and changes separately. */
final class RequestWindows {
  /** Tolerance, because the client counts a request until its answer has arrived. */
  private static final int SLACK = 2;

  private final ShardServerConfig.Limits limits;
  private final List<Window> reads = new ArrayList<>();
  private final List<Window> changes = new ArrayList<>();

  private static final class Window {
    int operations;
    long bytes;
  }

  RequestWindows(ShardServerConfig.Limits limits, int drives) {
    this.limits = limits;
    for (int drive = 0; drive < drives; drive++) {
      reads.add(new Window());
      changes.add(new Window());
    }
  }

  /**
   * Counts one more request.
   *
   * @throws WireFormatException if the client exceeds the terms
   */
  void enter(ServedCall call) throws WireFormatException {
    Window window = window(call);
    int bytesMax = call.isRead() ? limits.readBytesMax() : limits.writeBytesMax();
    window.operations++;
    window.bytes += call.windowBytes();
    if (window.operations > SLACK * limits.operationsMax()
        || window.bytes > (long) SLACK * bytesMax) {
      throw new WireFormatException("more requests under way than the terms allow");
    }
  }

  void leave(ServedCall call) {
    Window window = window(call);
    window.operations--;
    window.bytes -= call.windowBytes();
  }

  private Window window(ServedCall call) {
    return (call.isRead() ? reads : changes).get(call.drive());
  }
}
