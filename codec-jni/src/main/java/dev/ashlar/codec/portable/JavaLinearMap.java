package dev.ashlar.codec.portable;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;

/**
 * Works on eight bytes at a time without tables: a row times the sources is, by Horner's rule over
 * the bits of the coefficients, a handful of doublings and XORs of whole words. The just-in-time
 * compiler turns these loops into vector instructions, which it cannot do for table look-ups.
 */
public final class JavaLinearMap implements LinearMap {
  /** 4 KiB of each shard at a time, so that the words of all sources stay in the CPU's cache. */
  private static final int CHUNK_BYTES = 4096;

  private static final long LOW_SEVEN_BITS = 0x7f7f7f7f7f7f7f7fL;
  private static final long LOW_BIT = 0x0101010101010101L;

  private final byte[][] rows;

  /** A matrix with one row per target and one column per source. */
  public JavaLinearMap(byte[][] rows) {
    this.rows = rows;
  }

  @Override
  public void multiply(ByteBuffer[] sources, ByteBuffer[] targets, int length) {
    int wordsMax = words(Math.min(CHUNK_BYTES, length));
    long[][] in = new long[sources.length][wordsMax];
    long[] sum = new long[wordsMax];
    for (int at = 0; at < length; at += CHUNK_BYTES) {
      int bytes = Math.min(CHUNK_BYTES, length - at);
      for (int i = 0; i < sources.length; i++) {
        load(sources[i], at, bytes, in[i]);
      }
      for (int j = 0; j < targets.length; j++) {
        combine(rows[j], in, sum, words(bytes));
        store(sum, targets[j], at, bytes);
      }
    }
  }

  @Override
  public void accumulate(int column, ByteBuffer source, ByteBuffer[] targets, int length) {
    int wordsMax = words(Math.min(CHUNK_BYTES, length));
    long[][] in = new long[1][wordsMax];
    long[] sum = new long[wordsMax];
    long[] old = new long[wordsMax];
    for (int at = 0; at < length; at += CHUNK_BYTES) {
      int bytes = Math.min(CHUNK_BYTES, length - at);
      load(source, at, bytes, in[0]);
      for (int j = 0; j < targets.length; j++) {
        combine(new byte[] {rows[j][column]}, in, sum, words(bytes));
        load(targets[j], at, bytes, old);
        xor(old, sum, words(bytes));
        store(sum, targets[j], at, bytes);
      }
    }
  }

  private static void combine(byte[] coefficients, long[][] in, long[] sum, int words) {
    Arrays.fill(sum, 0, words, 0);
    boolean started = false;
    for (int bit = 7; bit >= 0; bit--) {
      if (started) {
        doubleAll(sum, words);
      }
      for (int i = 0; i < in.length; i++) {
        if ((coefficients[i] >> bit & 1) != 0) {
          xor(in[i], sum, words);
          started = true;
        }
      }
    }
  }

  private static void xor(long[] from, long[] into, int words) {
    for (int w = 0; w < words; w++) {
      into[w] ^= from[w];
    }
  }

  /** Each byte times x: shifted left, and reduced by 0x1d where its top bit fell out. */
  private static void doubleAll(long[] values, int words) {
    for (int w = 0; w < words; w++) {
      long value = values[w];
      long carry = value >>> 7 & LOW_BIT;
      values[w] = (value & LOW_SEVEN_BITS) << 1 ^ carry ^ carry << 2 ^ carry << 3 ^ carry << 4;
    }
  }

  private static int words(int bytes) {
    return (bytes + Long.BYTES - 1) / Long.BYTES;
  }

  private static void load(ByteBuffer source, int at, int bytes, long[] words) {
    ByteBuffer view = source.slice(source.position() + at, bytes).order(ByteOrder.nativeOrder());
    LongBuffer whole = view.asLongBuffer();
    int count = whole.remaining();
    whole.get(words, 0, count);
    if (count * Long.BYTES < bytes) {
      long last = 0;
      for (int i = count * Long.BYTES; i < bytes; i++) {
        last = last << Byte.SIZE | (view.get(i) & 0xff);
      }
      words[count] = last;
    }
  }

  private static void store(long[] words, ByteBuffer target, int at, int bytes) {
    ByteBuffer view = target.slice(target.position() + at, bytes).order(ByteOrder.nativeOrder());
    LongBuffer whole = view.asLongBuffer();
    int count = whole.remaining();
    whole.put(words, 0, count);
    if (count * Long.BYTES < bytes) {
      long last = words[count];
      for (int i = bytes - 1; i >= count * Long.BYTES; i--) {
        view.put(i, (byte) last);
        last >>>= Byte.SIZE;
      }
    }
  }
}
