package dev.ashlar.blob.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many clients change one object: each change happens whole or not at all. */
class ConcurrentChangesTest {
  private static final int CLIENTS = 4;
  private static final int REGION = 5000; // over the edges of blocks and strips

  @ParameterizedTest
  @ValueSource(strings = {"4+2", "4+2,optimizations=off"})
  void regionsOfTheSameStripesAreNeverMixed(String profile) throws Exception {
    ChangeFixture engine = new ChangeFixture(Profile.parse(profile, 4096));
    engine.put(new byte[CLIENTS * REGION]);
    byte[] last = new byte[CLIENTS];
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> clients = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        int region = client;
        clients.add(threads.submit(() -> rewrite(engine, region, last)));
      }
      Future<?> reader = threads.submit(() -> readWhile(engine, clients));
      for (Future<?> client : clients) {
        client.get();
      }
      reader.get();
    }
    engine.foldAll();
    for (int client = 0; client < CLIENTS; client++) {
      byte[] region = new byte[REGION];
      Arrays.fill(region, last[client]);
      engine.expect((long) client * REGION, region);
    }
    engine.assertEveryLossIsRebuilt("at rest");
    engine.assertNothingHeld();
  }

  private static Void rewrite(ChangeFixture engine, int region, byte[] last) throws Exception {
    for (int i = 1; i <= 40; i++) {
      byte[] bytes = new byte[REGION];
      Arrays.fill(bytes, (byte) i);
      try (ObjectChange change =
          engine.store.newChange(engine.object(), (long) region * REGION, REGION)) {
        change.write(ByteBuffer.wrap(bytes));
        if (isOk(change)) {
          last[region] = (byte) i;
        }
      }
      if (i % 10 == region) {
        engine.foldAll();
      }
    }
    return null;
  }

  private static boolean isOk(ObjectChange change) throws Exception {
    try {
      ResultCode code = change.commit(ChangeFixture.command()).getCode();
      assertTrue(code == ResultCode.OK || code == ResultCode.CONDITIONAL_CONFLICT, code::toString);
      return code == ResultCode.OK;
    } catch (DataUnavailableException e) {
      assertEquals(DataUnavailableException.Reason.CONFLICT, e.reason());
      return false;
    }
  }

  private static Void readWhile(ChangeFixture engine, List<Future<?>> clients) throws Exception {
    while (!clients.stream().allMatch(Future::isDone)) {
      ObjectRead object = engine.object();
      byte[] bytes;
      try {
        bytes = engine.get(object, new ByteRange(0, (long) CLIENTS * REGION));
      } catch (DataUnavailableException e) {
        assertEquals(DataUnavailableException.Reason.GONE, e.reason());
        continue;
      }
      for (int i = 0; i < bytes.length; i++) {
        assertEquals(bytes[i / REGION * REGION], bytes[i], "torn at " + i);
      }
    }
    return null;
  }

  @ParameterizedTest
  @ValueSource(strings = {"4+2", "4+2,optimizations=off"})
  void appendsFollowEachOther(String profile) throws Exception {
    ChangeFixture engine = new ChangeFixture(Profile.parse(profile, 4096));
    engine.put(new byte[0]);
    AtomicInteger appended = new AtomicInteger();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> clients = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        int number = client;
        clients.add(threads.submit(() -> append(engine, number, appended)));
      }
      for (Future<?> client : clients) {
        client.get();
      }
    }
    int length = 1000;
    assertEquals((long) appended.get() * length, engine.object().object().getSummary().getSize());
    byte[] all = engine.get(engine.object(), new ByteRange(0, (long) appended.get() * length));
    byte[] next = new byte[CLIENTS];
    for (int at = 0; at < all.length; at += length) {
      int client = all[at];
      byte[] record = new byte[length];
      Arrays.fill(record, next[client]++);
      record[0] = (byte) client;
      assertTrue(Arrays.equals(all, at, at + length, record, 0, length), "record at " + at);
    }
  }

  private static Void append(ChangeFixture engine, int client, AtomicInteger appended)
      throws Exception {
    for (byte i = 0; i < 30; ) {
      byte[] record = new byte[1000];
      Arrays.fill(record, i);
      record[0] = (byte) client;
      ObjectRead object = engine.object();
      long size = object.object().getSummary().getSize();
      try (ObjectChange change = engine.store.newChange(object, size, record.length)) {
        change.write(ByteBuffer.wrap(record));
        CommandResult result = change.commit(ChangeFixture.command().setAppend(true));
        if (result.getCode() == ResultCode.OK) {
          appended.incrementAndGet();
          i++;
        } else {
          assertTrue(
              result.getCode() == ResultCode.INVALID_OFFSET
                  || result.getCode() == ResultCode.CONDITIONAL_CONFLICT,
              result::toString);
        }
      } catch (DataUnavailableException e) {
        assertEquals(DataUnavailableException.Reason.CONFLICT, e.reason());
      }
    }
    return null;
  }
}
