package dev.ashlar.metadata.consensus.raft;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.ratis.metrics.LongCounter;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.metrics.MetricRegistryInfo;
import org.apache.ratis.metrics.RatisMetricRegistry;
import org.apache.ratis.metrics.Timekeeper;
import org.apache.ratis.util.TimeDuration;

/**
 * Disables Ratis' metrics: its hundreds of timers and histograms cost more than a commit. We
 * measure what matters ourselves. Ratis finds this class as a service.
 */
public final class NoMetricRegistries extends MetricRegistries {
  @Override
  public RatisMetricRegistry create(MetricRegistryInfo info) {
    return new UnmeasuredRegistry(info);
  }

  @Override
  public void clear() {}

  @Override
  public boolean remove(MetricRegistryInfo info) {
    return true;
  }

  @Override
  public Optional<RatisMetricRegistry> get(MetricRegistryInfo info) {
    return Optional.empty();
  }

  @Override
  public Set<MetricRegistryInfo> getMetricRegistryInfos() {
    return Set.of();
  }

  @Override
  public Collection<RatisMetricRegistry> getMetricRegistries() {
    return List.of();
  }

  @Override
  public void addReporterRegistration(
      Consumer<RatisMetricRegistry> start, Consumer<RatisMetricRegistry> stop) {}

  @Override
  public void enableJmxReporter() {}

  @Override
  public void enableConsoleReporter(TimeDuration rate) {}

  private record UnmeasuredRegistry(MetricRegistryInfo info) implements RatisMetricRegistry {
    private static final Timekeeper TIMEKEEPER = () -> () -> 0;
    private static final LongCounter COUNTER =
        new LongCounter() {
          @Override
          public void inc(long n) {}

          @Override
          public void dec(long n) {}

          @Override
          public long getCount() {
            return 0;
          }
        };

    @Override
    public Timekeeper timer(String name) {
      return TIMEKEEPER;
    }

    @Override
    public LongCounter counter(String name) {
      return COUNTER;
    }

    @Override
    public boolean remove(String name) {
      return true;
    }

    @Override
    public <T> void gauge(String name, Supplier<Supplier<T>> gauge) {}

    @Override
    public MetricRegistryInfo getMetricRegistryInfo() {
      return info;
    }
  }
}
