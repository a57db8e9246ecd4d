package dev.ashlar.server.jobs;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what lifecycle rules do.
 *
 * @param daysBehind of the bucket whose deletions have been going on for the most days
 */
record LifecycleMeters(
    Counter versions, Counter bytes, Map<LifecycleAct, Counter> acts, AtomicLong daysBehind) {
  static LifecycleMeters of(MeterRegistry registry) {
    Map<LifecycleAct, Counter> acts = new EnumMap<>(LifecycleAct.class);
    for (LifecycleAct act : LifecycleAct.values()) {
      acts.put(act, counter(act).register(registry));
    }
    AtomicLong daysBehind = new AtomicLong();
    Gauge.builder("ashlar.lifecycle.days.behind", daysBehind, AtomicLong::doubleValue)
        .description(
            "Days for which the lifecycle deletions of some bucket have not come to their end; 0 on"
                + " gateways that do not carry out rules")
        .register(registry);
    return new LifecycleMeters(
        Counter.builder("ashlar.lifecycle.versions")
            .description("Versions of objects that lifecycle scans looked at")
            .register(registry),
        Counter.builder("ashlar.lifecycle.moved")
            .description("Bytes of objects that lifecycle rules moved to another storage class")
            .baseUnit("bytes")
            .register(registry),
        acts,
        daysBehind);
  }

  private static Counter.Builder counter(LifecycleAct act) {
    return act.isDone()
        ? Counter.builder("ashlar.lifecycle.actions")
            .description("What lifecycle rules did to versions and uploads")
            .tag("action", act.label())
        : Counter.builder("ashlar.lifecycle.left")
            .description("Versions and uploads that were due by lifecycle rules, but were left")
            .tag("reason", act.label());
  }

  void count(LifecycleAct act, long number) {
    Counter counter = acts.get(act);
    if (counter != null) {
      counter.increment((double) number);
    }
  }
}
