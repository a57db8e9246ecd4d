package dev.ashlar.it.linear;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.linear.ObjectCall.Append;
import dev.ashlar.it.linear.ObjectCall.Delete;
import dev.ashlar.it.linear.ObjectCall.Get;
import dev.ashlar.it.linear.ObjectCall.Patch;
import dev.ashlar.it.linear.ObjectCall.Put;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories of one key that cannot be, each beside one that can. */
class ObjectModelTest {
  private final List<Operation<ObjectCall, ObjectReply>> history = new ArrayList<>();

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private ObjectModelTest with(long from, long to, ObjectCall call, String what) {
    return with(from, to, call, what, "");
  }

  private ObjectModelTest with(long from, long to, ObjectCall call, String what, String body) {
    history.add(
        new Operation<>(call, new ObjectReply(what, ByteBuffer.wrap(bytes(body))), from, to));
    return this;
  }

  private ObjectModelTest withLost(long from, ObjectCall call) {
    history.add(new Operation<>(call, null, from, 0));
    return this;
  }

  private boolean holds() {
    return Linearizability.isLinearizable(new ObjectModel(), history);
  }

  private static ObjectModelTest put() {
    return new ObjectModelTest().with(1, 2, new Put(bytes("0123")), "200");
  }

  @Test
  void everyKindOfAnswer() {
    assertTrue(
        new ObjectModelTest()
            .with(1, 2, new Get(), "404 NoSuchKey")
            .with(3, 4, new Patch(0, bytes("a")), "404 NoSuchKey")
            .with(5, 6, new Append(1, bytes("a")), "400 InvalidWriteOffset")
            .with(7, 8, new Append(0, bytes("ab")), "200")
            .with(9, 10, new Append(0, bytes("a")), "400 InvalidWriteOffset")
            .with(11, 12, new Append(2, bytes("cd")), "200")
            .with(13, 14, new Patch(5, bytes("x")), "416 InvalidRange")
            .with(15, 16, new Patch(3, bytes("xyz")), "200")
            .with(17, 18, new Get(), "200", "abcxyz")
            .with(19, 20, new Put(bytes("q")), "200")
            .with(21, 22, new Get(), "200", "q")
            .with(23, 24, new Delete(), "204")
            .with(25, 26, new Get(), "404 NoSuchKey")
            .holds());
  }

  @Test
  void twoAppendsAtOneOffsetAreNotBothAnswered() {
    assertTrue(
        put()
            .with(3, 9, new Append(4, bytes("a")), "200")
            .with(3, 9, new Append(4, bytes("b")), "400 InvalidWriteOffset")
            .holds());
    assertFalse(
        put()
            .with(3, 9, new Append(4, bytes("a")), "200")
            .with(3, 9, new Append(4, bytes("b")), "200")
            .holds());
  }

  @Test
  void aReadIsNoMix() {
    ObjectModelTest both =
        put()
            .with(3, 9, new Patch(0, bytes("ab")), "200")
            .with(3, 9, new Patch(1, bytes("xy")), "200");
    assertTrue(both.with(10, 11, new Get(), "200", "axy3").holds());
    assertFalse(
        put()
            .with(3, 9, new Patch(0, bytes("ab")), "200")
            .with(4, 5, new Get(), "200", "a123")
            .holds());
  }

  @Test
  void anAcknowledgedPatchIsNotLost() {
    assertFalse(
        put()
            .with(3, 9, new Patch(0, bytes("a")), "200")
            .with(3, 9, new Patch(2, bytes("b")), "200")
            .with(10, 11, new Get(), "200", "a123")
            .holds());
  }

  @Test
  void aConflictChangesNothing() {
    assertTrue(
        put()
            .with(3, 9, new Patch(0, bytes("a")), "409 ConcurrentUpdatesPatchConflict")
            .with(10, 11, new Get(), "200", "0123")
            .holds());
    assertFalse(
        put()
            .with(3, 9, new Patch(0, bytes("a")), "409 ConcurrentUpdatesPatchConflict")
            .with(10, 11, new Get(), "200", "a123")
            .holds());
  }

  @Test
  void whatGotNoAnswerHappenedWholeOrNot() {
    assertTrue(
        put().withLost(3, new Patch(1, bytes("ab"))).with(4, 5, new Get(), "200", "0ab3").holds());
    assertTrue(
        put().withLost(3, new Patch(1, bytes("ab"))).with(4, 5, new Get(), "200", "0123").holds());
    assertFalse(
        put().withLost(3, new Patch(1, bytes("ab"))).with(4, 5, new Get(), "200", "0a23").holds());
  }
}
