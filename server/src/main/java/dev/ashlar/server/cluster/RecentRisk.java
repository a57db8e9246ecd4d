package dev.ashlar.server.cluster;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The data risk, computed at most once a second however often it is asked for. For many threads.
 */
public final class RecentRisk {
  static final Duration KEPT = Duration.ofSeconds(1);

  private final Supplier<@Nullable DataRisk> compute;
  private final LongSupplier nanos;
  private @Nullable Computed last;

  private record Computed(@Nullable DataRisk risk, long nanos) {}

  /**
   * @param compute may give null: not known
   * @param nanos as of {@link System#nanoTime}
   */
  public RecentRisk(Supplier<@Nullable DataRisk> compute, LongSupplier nanos) {
    this.compute = compute;
    this.nanos = nanos;
  }

  /** Null where it is not known. */
  public synchronized @Nullable DataRisk now() {
    Computed recent = last;
    if (recent == null || nanos.getAsLong() - recent.nanos() >= KEPT.toNanos()) {
      recent = new Computed(compute.get(), nanos.getAsLong());
      last = recent;
    }
    return recent.risk();
  }
}
