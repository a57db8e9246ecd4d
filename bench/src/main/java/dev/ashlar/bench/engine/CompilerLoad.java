package dev.ashlar.bench.engine;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;

/**
 * How much the JVM's compiler has had to do since a moment. What is measured while it is busy says
 * more about the compiler than about the store.
 */
final class CompilerLoad {
  private final long beganNanos = System.nanoTime();
  private final long millisBefore = millis();

  /** Of one processor; 0 where the JVM does not tell. */
  double share() {
    return 1e6 * (millis() - millisBefore) / Math.max(1, System.nanoTime() - beganNanos);
  }

  private static long millis() {
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler != null && compiler.isCompilationTimeMonitoringSupported()
        ? compiler.getTotalCompilationTime()
        : 0;
  }
}
