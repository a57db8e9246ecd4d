package dev.ashlar.protocol.wire;

/** A constant with a number on the wire, which never changes. */
interface Coded {
  byte code();

  /** Finds the constant with this number. */
  static <E extends Enum<E> & Coded> E of(E[] constants, byte code) throws WireFormatException {
    for (E constant : constants) {
      if (constant.code() == code) {
        return constant;
      }
    }
    throw new WireFormatException(
        constants[0].getDeclaringClass().getSimpleName() + " number " + code);
  }
}
