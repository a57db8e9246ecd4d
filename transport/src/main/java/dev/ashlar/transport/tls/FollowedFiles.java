package dev.ashlar.transport.tls;

import dev.ashlar.protocol.process.BackgroundThread;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is made of files that may be replaced at run time. New contents that are valid replace what
 * was made of the former ones; others are logged and have no effect.
 */
final class FollowedFiles<T> {
  private static final Logger LOG = LoggerFactory.getLogger(FollowedFiles.class);
  private static final Duration CHECK_PERIOD = Duration.ofSeconds(5);

  private final List<PemFile> files;
  private final Maker<T> maker;

  /** The texts of which the current one was made. */
  private List<String> taken;

  private volatile T current;

  /** Why the files were refused at the last check; empty: they were accepted. */
  private String refusal = "";

  private String loggedRefusal = "";

  /** Makes something of the texts of the files, in their order. */
  interface Maker<T> {
    /**
     * @throws IOException naming the file that is wrong
     */
    T make(List<String> texts) throws IOException;
  }

  /**
   * Reads the files for the first time.
   *
   * @throws IOException naming the file that is wrong
   */
  FollowedFiles(List<PemFile> files, Maker<T> maker) throws IOException {
    this.files = files;
    this.maker = maker;
    taken = read();
    current = maker.make(taken);
  }

  /** Checks all of these periodically. */
  static BackgroundThread watch(List<? extends FollowedFiles<?>> all) {
    return BackgroundThread.start(
        "tls-files",
        () -> {
          while (true) {
            Thread.sleep(CHECK_PERIOD);
            all.forEach(FollowedFiles::checkSafely);
          }
        });
  }

  private void checkSafely() {
    try {
      check();
    } catch (RuntimeException e) {
      LOG.error("Checking the TLS files failed; keeping the certificate in use", e);
    }
  }

  private List<String> read() throws IOException {
    List<String> texts = new ArrayList<>();
    for (PemFile file : files) {
      texts.add(file.read());
    }
    return texts;
  }

  T current() {
    return current;
  }

  /** Adopts the contents of the files if they have changed and are valid. */
  void check() {
    try {
      List<String> now = read();
      if (!now.equals(taken)) {
        current = maker.make(now);
        taken = now;
        LOG.info("New connections use the certificate {}.", current);
      }
      refusal = "";
      loggedRefusal = "";
    } catch (IOException e) {
      refused(String.valueOf(e.getMessage()));
    }
  }

  /** Files are replaced one by one, so a fault is logged only if the next check finds it too. */
  private void refused(String why) {
    if (why.equals(refusal) && !why.equals(loggedRefusal)) {
      LOG.warn(
          "TLS files refused; keeping the certificate {}: {}. Replace the files; no restart is"
              + " needed.",
          current,
          why);
      loggedRefusal = why;
    }
    refusal = why;
  }
}
