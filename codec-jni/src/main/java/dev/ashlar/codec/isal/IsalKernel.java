package dev.ashlar.codec.isal;

import dev.ashlar.codec.portable.Kernel;

/** Multiplication by ISA-L. */
public final class IsalKernel implements Kernel {
  public IsalKernel() {
    NativeLibrary.require();
  }

  @Override
  public String name() {
    return "isal";
  }

  @Override
  public IsalLinearMap prepare(byte[][] rows) {
    return new IsalLinearMap(rows);
  }
}
