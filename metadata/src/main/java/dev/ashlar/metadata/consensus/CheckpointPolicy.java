package dev.ashlar.metadata.consensus;

/**
 * Asks for a checkpoint when replaying the log since the last one would take noticeable time. Used
 * by the thread that applies.
 */
final class CheckpointPolicy {
  private final long commandsMax;
  private final long bytesMax;
  private final Runnable request;
  private long commands;
  private long bytes;

  CheckpointPolicy(long commandsMax, long bytesMax, Runnable request) {
    this.commandsMax = commandsMax;
    this.bytesMax = bytesMax;
    this.request = request;
  }

  void applied(int entryBytes, int entryCommands) {
    commands += entryCommands;
    bytes += entryBytes;
    if (commands >= commandsMax || bytes >= bytesMax) {
      takeNow();
    }
  }

  void takeNow() {
    taken();
    request.run();
  }

  /** From any thread. */
  void request() {
    request.run();
  }

  void taken() {
    commands = 0;
    bytes = 0;
  }
}
