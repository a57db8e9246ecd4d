package dev.ashlar.it.harness;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/** Adds the seeds in use and the ends of the servers' logs to every failure. */
public final class FailureReport implements TestExecutionExceptionHandler {
  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    if (!(failure instanceof org.opentest4j.TestAbortedException)) {
      failure.addSuppressed(new Circumstances(Seeds.used() + ServerProcess.logTails()));
    }
    throw failure;
  }

  /** Not an error of its own: it carries text into the report. */
  private static final class Circumstances extends Exception {
    private static final long serialVersionUID = 1;

    Circumstances(String message) {
      super(message, null, false, false);
    }
  }
}
