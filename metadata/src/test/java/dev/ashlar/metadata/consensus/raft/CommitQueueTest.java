package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/** Every submitter hears of its command in the end, and of no other. */
class CommitQueueTest {
  private static final int VERSION = 7;

  private final BlockingQueue<Proposal> proposals = new LinkedBlockingQueue<>();

  private CommitQueue queue(Duration timeout) {
    return new CommitQueue(
        Clock.systemUTC(),
        timeout,
        new SimpleMeterRegistry(),
        () -> VERSION,
        () -> OptionalLong.of(0),
        proposals::add);
  }

  private static CompletableFuture<CommandResult> submit(CommitQueue queue) {
    CompletableFuture<CommandResult> answer = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                answer.complete(queue.submit(TestBlobs.createBucket("b")));
              } catch (MetadataUnavailableException e) {
                answer.completeExceptionally(e);
              }
            });
    return answer;
  }

  private static void apply(Proposal proposal) {
    proposal.applied(
        proposal.batch().getCommandsList().stream()
            .map(command -> CommandResult.newBuilder().setVersion(command.getRequest()).build())
            .toList());
  }

  @Test
  void waitingCommandsBecomeTheNextEntry() throws Exception {
    CommitQueue queue = queue(Duration.ofMinutes(1));
    CompletableFuture<CommandResult> first = submit(queue);
    Proposal one = proposals.take();
    CompletableFuture<CommandResult> second = submit(queue);
    CompletableFuture<CommandResult> third = submit(queue);
    while (queue.waiting() < 2) {
      Thread.sleep(1);
    }
    assertTrue(proposals.isEmpty());
    assertEquals(VERSION, one.batch().getVersion());
    apply(one);
    assertEquals(1, first.get().getVersion());
    Proposal two = proposals.take();
    assertEquals(2, two.batch().getCommandsCount());
    apply(two);
    assertEquals(5, second.get().getVersion() + third.get().getVersion());
  }

  @Test
  void aJumpOfTheClockIsNoneOfLogTime() throws Exception {
    ManualClock clock = new ManualClock(1_700_000_000_000L);
    CommitQueue queue =
        new CommitQueue(
            clock,
            Duration.ofMinutes(1),
            new SimpleMeterRegistry(),
            () -> VERSION,
            () -> OptionalLong.of(0),
            proposals::add);
    long before = clock.millis();
    for (int hours : new int[] {48, -100}) {
      clock.advanceMs(Duration.ofHours(hours).toMillis());
      CompletableFuture<CommandResult> answer = submit(queue);
      Proposal proposal = proposals.take();
      Command command = proposal.batch().getCommandsList().getFirst();
      assertEquals(clock.millis(), command.getTimeMs());
      long moved = Math.abs(command.getSteadyMs() - before);
      assertTrue(moved < Duration.ofHours(1).toMillis(), () -> moved + " ms");
      apply(proposal);
      answer.get();
    }
  }

  @Test
  void expiredSubmitterIsWoken() throws Exception {
    CommitQueue queue = queue(Duration.ofMillis(1));
    CompletableFuture<CommandResult> first = submit(queue);
    CompletableFuture<CommandResult> second = submit(queue);
    while (!first.isDone() || !second.isDone()) {
      queue.wakeExpired();
      Thread.sleep(1);
    }
    assertTrue(first.isCompletedExceptionally() && second.isCompletedExceptionally());
  }

  @Test
  void aProposalThatIsGivenUpLetsTheNextOneGo() throws Exception {
    CommitQueue queue = queue(Duration.ofMillis(1));
    CompletableFuture<CommandResult> first = submit(queue);
    Proposal lost = proposals.take();
    while (lost.isWanted()) {
      Thread.sleep(1);
    }
    assertThrows(Exception.class, first::get);
    CompletableFuture<CommandResult> second = submit(queue);
    assertFalse(proposals.take().batch().getCommandsList().isEmpty());
    queue.giveUp();
    assertThrows(Exception.class, second::get);
  }

  @Test
  void waitingSubmitterIsWokenAtTheClose() throws Exception {
    CommitQueue queue = queue(Duration.ofMinutes(1));
    CompletableFuture<CommandResult> first = submit(queue);
    proposals.take();
    CompletableFuture<CommandResult> second = submit(queue);
    while (queue.waiting() < 1) {
      Thread.sleep(1);
    }
    queue.close();
    queue.giveUp();
    assertThrows(Exception.class, first::get);
    assertThrows(Exception.class, second::get);
    assertThrows(Exception.class, () -> submit(queue).get());
  }
}
