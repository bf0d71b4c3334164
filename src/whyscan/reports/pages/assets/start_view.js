// A page without charts comes to life.

startPage(() => {});
