package dev.ashlar.it.harness;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * Prints the seeds in use and the ends of the servers' logs at every failure, of a test or of what
 * comes before and after it.
 */
public final class FailureReport
    implements TestExecutionExceptionHandler, LifecycleMethodExecutionExceptionHandler {
  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    report(context, failure);
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    report(context, failure);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    report(context, failure);
  }

  @Override
  public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    report(context, failure);
  }

  @Override
  public void handleAfterAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    report(context, failure);
  }

  private static void report(ExtensionContext context, Throwable failure) throws Throwable {
    if (!(failure instanceof TestAbortedException)) {
      System.out.printf(
          "%s failed: %s%n%s%s%n",
          context.getDisplayName(), failure, Seeds.used(), ServerProcess.logTails());
    }
    throw failure;
  }
}
