package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.ashlar.metadata.consensus.log.LogMark;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class MarkRaiserTest {
  private static final long END = 7;

  private final ListAppender<ILoggingEvent> said = new ListAppender<>();
  @TempDir Path folder = Path.of("");

  @BeforeEach
  void begin() {
    said.start();
    logger().addAppender(said);
  }

  @AfterEach
  void end() {
    logger().detachAppender(said);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger(MarkRaiser.class);
  }

  private MarkRaiser raiser(LogMark mark) {
    return new MarkRaiser(RaftPeerId.valueOf("m1"), mark, () -> END);
  }

  @Test
  void anInterruptionByTheClosingPeerIsNoFailure() throws Exception {
    LogMark mark = new LogMark(folder);
    Thread.currentThread().interrupt();
    raiser(mark).raise();
    assertTrue(Thread.interrupted(), "the caller still learns that it was interrupted");
    assertEquals(0, said.list.size(), () -> said.list.toString());
    raiser(mark).raise(); // as the closing thread does
    assertTrue(Files.size(folder.resolve("log-mark")) > 0);
  }

  @Test
  void aFailureIsLoggedOnce() throws Exception {
    MarkRaiser raiser = raiser(new LogMark(folder.resolve("gone")));
    raiser.raise();
    raiser.raise();
    assertEquals(1, said.list.size(), () -> said.list.toString());
  }
}
