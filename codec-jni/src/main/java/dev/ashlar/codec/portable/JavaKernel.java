package dev.ashlar.codec.portable;

/** Multiplication in plain Java. */
public final class JavaKernel implements Kernel {
  @Override
  public String name() {
    return "java";
  }

  @Override
  public LinearMap prepare(byte[][] rows) {
    return new JavaLinearMap(rows);
  }
}
