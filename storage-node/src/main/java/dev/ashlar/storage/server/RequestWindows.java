package dev.ashlar.storage.server;

import dev.ashlar.protocol.wire.WireFormatException;
import java.util.ArrayList;
import java.util.List;

/** What one connection has under way of each drive, reads and changes apart. */
final class RequestWindows {
  /** An answer may be on its way of which only one side knows that it has been sent. */
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
   * Counts one more.
   *
   * @throws WireFormatException if the client does not keep to what was agreed
   */
  void enter(ServedCall call) throws WireFormatException {
    Window window = window(call);
    int bytesMax = call.isRead() ? limits.readBytesMax() : limits.writeBytesMax();
    window.operations++;
    window.bytes += call.windowBytes();
    if (window.operations > SLACK * limits.operationsMax()
        || window.bytes > (long) SLACK * bytesMax) {
      throw new WireFormatException("more is under way than was agreed");
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
