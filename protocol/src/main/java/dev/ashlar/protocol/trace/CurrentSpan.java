package dev.ashlar.protocol.trace;

import org.jspecify.annotations.Nullable;

/**
 * The span that the calling thread works for. A request runs on one thread and calls metadata and
 * drives from it, so it need not be handed through every method between.
 */
public final class CurrentSpan {
  private static final ThreadLocal<@Nullable Span> CURRENT = new ThreadLocal<>();

  /** Where nothing is traced, threads are spared a table of their own. */
  private static volatile boolean isUsed;

  private CurrentSpan() {}

  /** Null: the thread works for none. */
  public static @Nullable Span get() {
    return isUsed ? CURRENT.get() : null;
  }

  /**
   * The parent of a span that begins now; null: it is not to be kept. To be called once for each
   * span, here or in another process.
   */
  public static @Nullable TraceContext parent() {
    Span span = get();
    return span != null && span.takesChild() ? span.context() : null;
  }

  /**
   * From now on the calling thread works for this one.
   *
   * @param span null: for none
   * @return what it has worked for, to be set again afterwards
   */
  public static @Nullable Span set(@Nullable Span span) {
    isUsed = true;
    Span before = CURRENT.get();
    if (span == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(span);
    }
    return before;
  }

  /**
   * Runs a task for a span of another process.
   *
   * @param of null: for none
   */
  public static void run(@Nullable TraceContext of, Runnable task) {
    if (of == null) {
      task.run();
      return;
    }
    Span before = set(() -> of);
    try {
      task.run();
    } finally {
      set(before);
    }
  }
}
