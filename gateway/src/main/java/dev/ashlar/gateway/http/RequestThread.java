package dev.ashlar.gateway.http;

import org.jspecify.annotations.Nullable;

/**
 * Names the threads of requests after them, so that lines of the log and thread dumps tell which
 * request they are about.
 */
public final class RequestThread {
  private static final String PREFIX = "request ";

  private RequestThread() {}

  static Thread of(String requestId, Runnable task) {
    return Thread.ofVirtual().name(PREFIX.concat(requestId)).unstarted(task);
  }

  /** The id of the request that a thread of this name serves; null: it serves none. */
  public static @Nullable String requestId(@Nullable String threadName) {
    return threadName != null && threadName.startsWith(PREFIX)
        ? threadName.substring(PREFIX.length())
        : null;
  }
}
